import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { createLane } from "@/server/planning/lane";
import { workerFile } from "@/server/planning/workerFile";
import type { MadeWorkloads, WorkloadTask } from "./workloadTask";

/** One at a time: a job of 20,000 prompts, twelve models and two measures takes some 100 MB. */
const lane = createLane(1);

/** Ten times that. */
const heapMb = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };

/**
 * `makeWorkloads` in a thread of its own, with the store's file open beside the studio.
 *
 * @throws the signal's reason when it aborts; whatever the thread threw.
 */
export async function workloadsInThread(task: WorkloadTask, signal: AbortSignal): Promise<MadeWorkloads> {
  await lane.enter(signal);
  try {
    const worker = new Worker(workerFile("workloadWorker"), { workerData: task, resourceLimits: heapMb });
    try {
      const [made] = await once(worker, "message", { signal });
      return made as MadeWorkloads;
    } finally {
      await worker.terminate();
    }
  } finally {
    lane.leave();
  }
}
