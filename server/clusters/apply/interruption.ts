import { setTimeout as sleep } from "node:timers/promises";

/** The longest that a timer of Node can be set to. */
const longestMs = 2 ** 31 - 1;

/** How what waits or works step by step is woken, cut off, or ended. */
export class Interruption {
  #waker = new AbortController();
  #cutter = new AbortController();
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  /** The signal of work that begins: each its own, since calls leave listeners at a signal until it is forgotten. */
  begin(): AbortSignal {
    if (!this.#closed) this.#cutter = new AbortController();
    return this.#cutter.signal;
  }

  /** Ends a wait. */
  wake(): void {
    this.#waker.abort();
    this.#waker = new AbortController();
  }

  /** Ends a wait, and the work that is under way. */
  cut(): void {
    this.wake();
    this.#cutter.abort();
  }

  /** Cuts off what is under way, and whatever begins from now on. */
  close(): void {
    this.#closed = true;
    this.cut();
  }

  /** Sleeps for a time, or without one until woken. */
  async unlessWoken(ms = longestMs): Promise<void> {
    await sleep(Math.max(0, ms), undefined, { signal: this.#waker.signal }).catch(() => undefined);
  }
}
