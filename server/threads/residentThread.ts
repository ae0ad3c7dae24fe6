import { type TaskOptions, ThreadEnded, type ThreadOptions, WorkerThread } from "./workerThread";

interface ResidentOptions extends ThreadOptions {
  /** Milliseconds between two starts, at least; without it a thread that ended is started again at the next task. */
  readonly restartAfterMs?: number;
}

/** One thread for many tasks, started at the first of them and again after it ended. */
export class ResidentThread<Task, Answer, Said = never> {
  readonly #options: ResidentOptions;
  readonly #onEnd: () => void;
  #thread: WorkerThread<Task, Answer, Said> | null = null;
  #startedMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  /** @param onEnd called each time the thread ends: its state is lost. */
  constructor(options: ResidentOptions, onEnd: () => void = () => undefined) {
    this.#options = options;
    this.#onEnd = onEnd;
  }

  /** @throws the signal's reason when it aborts; ThreadEnded where there is no thread, or it ends over the task; whatever the task throws. */
  async ask(task: Task, options?: TaskOptions<Said>): Promise<Answer> {
    this.#thread ??= this.#start();
    return this.#thread.ask(task, options);
  }

  /** Ends the thread at once and permanently; running tasks are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.close();
  }

  #start(): WorkerThread<Task, Answer, Said> {
    if (this.#isClosed) throw new ThreadEnded("closed", "The worker thread was closed.");
    const nowMs = performance.now();
    if (nowMs - this.#startedMs < (this.#options.restartAfterMs ?? 0))
      throw new ThreadEnded("not-started", "The worker thread ended a moment ago and is not started again yet.");
    this.#startedMs = nowMs;
    const thread = new WorkerThread<Task, Answer, Said>(this.#options, () => {
      if (this.#thread === thread) this.#thread = null;
      this.#onEnd();
    });
    return thread;
  }
}
