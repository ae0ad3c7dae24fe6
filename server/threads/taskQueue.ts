import { TaskThreads } from "./taskThreads";
import type { workerFile } from "./workerFile";

interface TaskQueue {
  readonly file: Parameters<typeof workerFile>[0];
  readonly heapMb: number;
  /** Tasks that are done or wait for their turn, at most: each is kept in memory. */
  readonly mostLive: number;
  /** What the tasks make, for the text "<...> are made or wait for their turn". */
  readonly makes: string;
}

/** Refused where too many wait. */
export type Refused = { readonly ok: false; readonly message: string };

/**
 * A function that runs a task in its own thread, after earlier tasks.
 *
 * It throws the signal's reason if it aborts, which ends the thread at once, and an Error if the thread ends without an answer.
 */
export function createTaskQueue<Task, Answer>({
  file,
  heapMb,
  mostLive,
  makes,
}: TaskQueue): (task: Task, signal: AbortSignal) => Promise<Answer | Refused> {
  const threads = new TaskThreads<Task, Answer>({ file, heapMb, atOnce: 1 });
  let live = 0;
  return async (task, signal) => {
    if (live >= mostLive) return { ok: false, message: `${live} ${makes} are made or wait for their turn: ask again when one is there.` };
    live += 1;
    try {
      return await threads.run(task, { signal });
    } finally {
      live -= 1;
    }
  };
}
