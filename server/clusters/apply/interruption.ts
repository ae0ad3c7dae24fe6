import { setTimeout as sleep } from "node:timers/promises";

/** The longest that a timer of Node can be set to. */
const longestMs = 2 ** 31 - 1;

/** Wakes, aborts or ends a task that waits or works step by step. */
export class Interruption {
  #waker = new AbortController();
  #cutter = new AbortController();
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  /** The signal of new work: each has its own, since calls leave listeners on a signal for its lifetime. */
  begin(): AbortSignal {
    if (!this.#closed) this.#cutter = new AbortController();
    return this.#cutter.signal;
  }

  /** Ends a wait. */
  wake(): void {
    this.#waker.abort();
    this.#waker = new AbortController();
  }

  /** Ends a wait, and aborts the work in progress. */
  cut(): void {
    this.wake();
    this.#cutter.abort();
  }

  /** Aborts the work in progress, and all later work. */
  close(): void {
    this.#closed = true;
    this.cut();
  }

  /** Sleeps for a time, or without one until woken. */
  async unlessWoken(ms = longestMs): Promise<void> {
    await sleep(Math.max(0, ms), undefined, { signal: this.#waker.signal }).catch(() => undefined);
  }
}
