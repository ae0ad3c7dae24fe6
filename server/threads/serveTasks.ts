import { parentPort } from "node:worker_threads";
import type { FromThread, ToThread } from "./messages";

/** What a task can do while it runs. */
export interface TaskRun<Said> {
  /** Reports progress. Resolves once the other side has taken it, for work that must not run ahead. */
  readonly say: (message: Said) => Promise<void>;
  /** Whether the caller no longer waits for the answer; also changes while the thread is busy. */
  readonly cancelled: () => boolean;
}

/**
 * The worker's side of a `WorkerThread`: does tasks one after another and answers each. What `work` throws rejects the task; the failure
 * of a cancelled task is not reported.
 */
export function serveTasks<Task, Answer, Said = never>(work: (task: Task, run: TaskRun<Said>) => Answer | Promise<Answer>): void {
  const port = parentPort;
  if (port === null) throw new Error("Tasks are served in a worker thread only.");
  const tell = (message: FromThread<Answer, Said>): void => port.postMessage(message);
  const untaken = new Map<number, () => void>();
  let saidCount = 0;
  let before: Promise<void> = Promise.resolve();

  async function serve({ id, task, stop }: Extract<ToThread<Task>, { kind: "task" }>): Promise<void> {
    const flag = new Int32Array(stop);
    const cancelled = (): boolean => Atomics.load(flag, 0) === 1;
    const say = (message: Said): Promise<void> =>
      new Promise((resolve) => {
        saidCount += 1;
        untaken.set(saidCount, resolve);
        tell({ kind: "said", id, said: saidCount, message });
      });
    try {
      tell({ kind: "answer", id, answer: await work(task, { say, cancelled }) });
    } catch (problem) {
      tell({ kind: "failed", id, problem: problem instanceof Error ? problem : new Error(String(problem)) });
    }
  }

  port.on("message", (message: ToThread<Task>) => {
    if (message.kind === "task") {
      before = before.then(() => serve(message));
      return;
    }
    untaken.get(message.said)?.();
    untaken.delete(message.said);
  });
  tell({ kind: "ready" });
}
