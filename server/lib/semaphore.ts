/** Lets a limited number in at once, first come, first served; an aborted wait leaves the queue at once. */
export class Semaphore {
  readonly #most: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#free = most;
  }

  /** How many places are held. */
  get held(): number {
    return this.#most - this.#free;
  }

  /** Takes a place where one is free. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** @throws the signal's reason when it aborts before there is room. */
  async acquire(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.tryAcquire()) return;
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      this.#waiting.push(begin);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  /** Does `work` while it holds a place. @throws the signal's reason when it aborts before there is room; whatever `work` throws. */
  async hold<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    await this.acquire(signal);
    try {
      return await work();
    } finally {
      this.release();
    }
  }
}
