import { Worker } from "node:worker_threads";
import { reasonOf } from "@/server/lib/reasonOf";
import type { FromThread, ToThread } from "./messages";
import { workerFile } from "./workerFile";

export interface ThreadOptions {
  readonly file: Parameters<typeof workerFile>[0];
  /** What the thread reads as `workerData`. */
  readonly data?: unknown;
  readonly heapMb?: number;
  readonly youngHeapMb?: number;
  /** Milliseconds until the thread must serve tasks; without it there is no limit. */
  readonly startLimitMs?: number;
  /** Whether a task under way keeps the process alive; it does unless this is false. An idle thread never does. */
  readonly keepsProcess?: boolean;
}

export interface TaskOptions<Said> {
  /** Rejects the task at once; the thread is notified and continues with the next one. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from when the thread has the task: one that takes longer ends the thread. */
  readonly limitMs?: number;
  /** Called with each progress message of the task; what it throws rejects the task. */
  readonly onSaid?: ((message: Said) => void) | undefined;
}

/** Why a thread no longer answers: it did not start, or not in time, a task took too long, it crashed, or it was closed. */
export class ThreadEnded extends Error {
  readonly kind: "not-started" | "late" | "crashed" | "closed";

  constructor(kind: ThreadEnded["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Call<Answer, Said> {
  readonly options: TaskOptions<Said>;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
  readonly release: () => void;
  timer?: NodeJS.Timeout;
}

/** A worker thread that serves tasks (`serveTasks`) until it is closed, crashes or takes too long. It ends with the process. */
export class WorkerThread<Task, Answer, Said = never> {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  readonly #onEnd: (how: ThreadEnded) => void;
  readonly #calls = new Map<number, Call<Answer, Said>>();
  #callCount = 0;
  #isReady = false;
  #ended: ThreadEnded | null = null;

  /** @param onEnd called once, however the thread ends. */
  constructor(options: ThreadOptions, onEnd: (how: ThreadEnded) => void = () => undefined) {
    this.#options = options;
    this.#onEnd = onEnd;
    const { file, data, heapMb, youngHeapMb, startLimitMs } = options;
    this.#worker = new Worker(workerFile(file), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngHeapMb },
    });
    this.#worker.unref();
    const limit =
      startLimitMs === undefined
        ? undefined
        : setTimeout(() => this.#end(new ThreadEnded("not-started", "A worker thread did not start in time.")), startLimitMs).unref();
    this.#worker.on("message", (message: FromThread<Answer, Said>) => {
      if (message.kind === "ready") clearTimeout(limit);
      this.#take(message);
    });
    const crashed = (how: string): void =>
      this.#end(new ThreadEnded(this.#isReady ? "crashed" : "not-started", `A worker thread ended unexpectedly: ${how}.`));
    this.#worker.on("error", (problem) => crashed(reasonOf(problem)));
    this.#worker.on("exit", (code) => {
      clearTimeout(limit);
      crashed(`exit code ${code}`);
    });
  }

  /** @throws the signal's reason when it aborts; ThreadEnded; whatever the task throws. */
  ask(task: Task, options: TaskOptions<Said> = {}): Promise<Answer> {
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#ended !== null) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = this.#callCount;
      this.#callCount += 1;
      const stop = new SharedArrayBuffer(4);
      const abort = (): void => {
        Atomics.store(new Int32Array(stop), 0, 1);
        this.#settle(id)?.reject(signal?.reason);
      };
      this.#worker.postMessage({ kind: "task", id, task, stop } satisfies ToThread<Task>);
      signal?.addEventListener("abort", abort, { once: true });
      const call = { options, resolve, reject, release: () => signal?.removeEventListener("abort", abort) };
      this.#calls.set(id, call);
      if (this.#options.keepsProcess !== false) this.#worker.ref();
      if (this.#isReady) this.#startClock(call);
    });
  }

  /** Ends it at once; tasks under way are rejected. */
  async close(): Promise<void> {
    this.#end(new ThreadEnded("closed", "The worker thread was closed."));
    await this.#worker.terminate();
  }

  #take(message: FromThread<Answer, Said>): void {
    switch (message.kind) {
      case "ready":
        this.#isReady = true;
        for (const call of this.#calls.values()) this.#startClock(call);
        return;
      case "said":
        this.#say(message.id, message.message);
        this.#worker.postMessage({ kind: "taken", said: message.said } satisfies ToThread<Task>);
        return;
      case "answer":
        this.#settle(message.id)?.resolve(message.answer);
        return;
      case "failed":
        this.#settle(message.id)?.reject(message.problem);
    }
  }

  #say(id: number, message: Said): void {
    try {
      this.#calls.get(id)?.options.onSaid?.(message);
    } catch (problem) {
      this.#settle(id)?.reject(problem);
    }
  }

  #startClock(call: Call<Answer, Said>): void {
    const { limitMs } = call.options;
    if (limitMs === undefined) return;
    call.timer = setTimeout(() => this.#end(new ThreadEnded("late", `A task took longer than ${limitMs} ms.`)), limitMs).unref();
  }

  #settle(id: number): Call<Answer, Said> | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#calls.delete(id);
    clearTimeout(call.timer);
    call.release();
    if (this.#calls.size === 0) this.#worker.unref();
    return call;
  }

  #end(how: ThreadEnded): void {
    if (this.#ended !== null) return;
    this.#ended = how;
    for (const id of [...this.#calls.keys()]) this.#settle(id)?.reject(how);
    void this.#worker.terminate();
    this.#onEnd(how);
  }
}
