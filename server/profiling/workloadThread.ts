import { TaskThreads } from "@/server/threads/taskThreads";
import type { MadeWorkloads, ScorerProgress, WorkloadTask } from "./workloadTask";

/** One at a time: a job of 20,000 prompts, twelve models and two measures takes some 100 MB, and has ten times that. */
const threads = new TaskThreads<WorkloadTask, MadeWorkloads, ScorerProgress>({
  file: "workloadWorker",
  heapMb: 1024,
  youngHeapMb: 32,
  atOnce: 1,
});

/**
 * `makeWorkloads` in its own thread, which opens the store's file in addition to the studio, and ends at once when the signal aborts.
 *
 * @throws the signal's reason if it aborts; the thread's exception.
 */
export function workloadsInThread(
  task: WorkloadTask,
  asking: { readonly signal: AbortSignal; readonly onSaid: (progress: ScorerProgress) => void },
): Promise<MadeWorkloads> {
  return threads.run(task, asking);
}
