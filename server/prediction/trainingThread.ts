import { TaskThreads } from "@/server/threads/taskThreads";
import type { Trained } from "./trainingContext";
import type { TrainingTask } from "./trainingTask";

/** Some thousand programs with sketches of their prompts take a few hundred MB. An encoder's network is not in it. */
const threads = new TaskThreads<TrainingTask, Trained, string>({ file: "trainingWorker", heapMb: 3072, youngHeapMb: 64 });

/**
 * Trains in a thread of its own, with the store's file open beside the studio.
 *
 * @param onDoing told what it is doing.
 * @throws the signal's reason when it aborts, after which the thread is gone; Error, in a sentence, where there is nothing to learn from.
 */
export function trainInThread(task: TrainingTask, signal: AbortSignal, onDoing: (doing: string) => void): Promise<Trained> {
  return threads.run(task, { signal, onSaid: onDoing });
}
