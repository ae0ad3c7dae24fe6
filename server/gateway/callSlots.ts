/** Lets so many through at once; the others wait their turn, first come, first served. */
export class CallSlots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#free = most;
  }

  /** Whether it is one's turn at once, which `leave` ends. */
  tryEnter(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Resolves with true when it is one's turn; with false when `signal` fired before. */
  enter(signal: AbortSignal): Promise<boolean> {
    if (this.tryEnter()) return Promise.resolve(true);
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#waiting.delete(onTurn);
        resolve(false);
      };
      const onTurn = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(true);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(onTurn);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
