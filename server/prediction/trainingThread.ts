import { TaskThreads } from "@/server/threads/taskThreads";
import type { Trained } from "./trainingContext";
import type { TrainingTask } from "./trainingTask";

/** Some thousand programs with sketches of their prompts take a few hundred MB. An encoder's network is not in it. */
const threads = new TaskThreads<TrainingTask, Trained, string>({ file: "trainingWorker", heapMb: 3072, youngHeapMb: 64 });

/**
 * Trains in its own thread, which opens the store's file in addition to the studio.
 *
 * @param onDoing called with its present activity.
 * @throws the signal's reason if it aborts, after which the thread has ended; Error, in a sentence, if there is no training data.
 */
export function trainInThread(task: TrainingTask, signal: AbortSignal, onDoing: (doing: string) => void): Promise<Trained> {
  return threads.run(task, { signal, onSaid: onDoing });
}
