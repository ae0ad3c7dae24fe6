import { Worker } from "node:worker_threads";
import { createLane } from "./lane";
import { workerFile } from "./workerFile";

/** Threads that each do one task and end, one at a time. */
export interface ThreadLane {
  readonly file: Parameters<typeof workerFile>[0];
  readonly heapMb: number;
  /** Tasks that are done or wait for their turn, at most: each is kept in memory. */
  readonly mostLive: number;
  /** What they make, as it stands in "<...> are made or wait for their turn". */
  readonly makes: string;
}

/** Refused where too many wait. */
export type Refused = { readonly ok: false; readonly message: string };

/**
 * A function that does a task in a thread of its own, after those that were asked for before.
 *
 * It throws the signal's reason when it aborts, the thread ending at once, and an Error where the thread ends without an answer.
 */
export function createThreadLane<Task, Reply>({
  file,
  heapMb,
  mostLive,
  makes,
}: ThreadLane): (task: Task, signal: AbortSignal) => Promise<Reply | Refused> {
  const lane = createLane(1);
  let live = 0;

  async function inThread(task: Task, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const worker = new Worker(workerFile(file), { workerData: task, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
    let abort = (): void => undefined;
    const ended = new Promise<Reply>((resolve, reject) => {
      abort = () => reject(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      worker.on("message", resolve);
      worker.on("error", reject);
      worker.on("exit", (code) => reject(new Error(`The thread in which ${makes} are made ended unexpectedly with code ${code}.`)));
    });
    return ended.finally(() => {
      signal.removeEventListener("abort", abort);
      return worker.terminate();
    });
  }

  return async (task, signal) => {
    if (live >= mostLive) return { ok: false, message: `${live} ${makes} are made or wait for their turn: ask again when one is there.` };
    live += 1;
    try {
      await lane.enter(signal);
      return await inThread(task, signal).finally(() => lane.leave());
    } finally {
      live -= 1;
    }
  };
}
