import { TaskThreads } from "@/server/threads/taskThreads";
import type { MadeWorkloads, WorkloadTask } from "./workloadTask";

/** One at a time: a job of 20,000 prompts, twelve models and two measures takes some 100 MB, and has ten times that. */
const threads = new TaskThreads<WorkloadTask, MadeWorkloads>({ file: "workloadWorker", heapMb: 1024, youngHeapMb: 32, atOnce: 1 });

/**
 * `makeWorkloads` in a thread of its own, with the store's file open beside the studio.
 *
 * @throws the signal's reason when it aborts; whatever the thread threw.
 */
export function workloadsInThread(task: WorkloadTask, signal: AbortSignal): Promise<MadeWorkloads> {
  return threads.run(task, { signal });
}
