import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { workerFile } from "@/server/planning/workerFile";
import type { TrainingReply, TrainingTask } from "./trainingTask";

/** Some thousand programs with sketches of their prompts take a few hundred MB. An encoder's network is not in it. */
const heapMb = { maxOldGenerationSizeMb: 3072, maxYoungGenerationSizeMb: 64 };

/**
 * Trains in a thread of its own, with the store's file open beside the studio, and tells what it tells.
 *
 * @throws the signal's reason when it aborts, after which the thread is gone; whatever the thread threw.
 */
export async function* trainInThread(task: TrainingTask, signal: AbortSignal): AsyncGenerator<TrainingReply, void> {
  signal.throwIfAborted();
  const worker = new Worker(workerFile("trainingWorker"), { workerData: task, resourceLimits: heapMb });
  try {
    for await (const [reply] of on(worker, "message", { signal, close: ["exit"] })) yield reply as TrainingReply;
  } finally {
    await worker.terminate();
  }
}
