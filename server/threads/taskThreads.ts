import { Semaphore } from "@/server/lib/semaphore";
import { type TaskOptions, type ThreadOptions, WorkerThread } from "./workerThread";

interface TaskThreadsOptions extends ThreadOptions {
  /** Threads at once; further tasks wait for their turn. Without it there is no bound. */
  readonly atOnce?: number;
}

/** Runs each task in its own thread, which ends with the task. */
export class TaskThreads<Task, Answer, Said = never> {
  readonly #options: ThreadOptions;
  readonly #places: Semaphore;

  constructor({ atOnce = Number.POSITIVE_INFINITY, ...options }: TaskThreadsOptions) {
    this.#options = options;
    this.#places = new Semaphore(atOnce);
  }

  /** @throws the signal's reason when it aborts, the thread ending at once; ThreadEnded; whatever the task throws. */
  run(task: Task, options: TaskOptions<Said> & { readonly signal: AbortSignal }): Promise<Answer> {
    return this.#places.hold(async () => {
      options.signal.throwIfAborted();
      const thread = new WorkerThread<Task, Answer, Said>(this.#options);
      try {
        return await thread.ask(task, options);
      } finally {
        await thread.close();
      }
    }, options.signal);
  }

  /** As `run`, but yields all messages of the task and its answer last. The thread ends if the reader stops. */
  async *stream(task: Task, signal: AbortSignal): AsyncGenerator<Said | Answer, void> {
    const left = new AbortController();
    const said: Said[] = [];
    let isOver = false;
    let wake = (): void => undefined;
    const answer = this.run(task, {
      signal: AbortSignal.any([signal, left.signal]),
      onSaid: (message) => {
        said.push(message);
        wake();
      },
    }).finally(() => {
      isOver = true;
      wake();
    });
    // A reader that stays gets the rejection below; without one it is no unhandled rejection.
    answer.catch(() => undefined);
    try {
      while (!isOver || said.length > 0) {
        yield* said.splice(0);
        if (!isOver && said.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
      yield await answer;
    } finally {
      left.abort();
    }
  }
}
