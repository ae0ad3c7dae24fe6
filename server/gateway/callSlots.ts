/** Lets so many through at once; the others wait their turn, first come, first served. */
export class CallSlots {
  readonly #most: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** How many are through and have not left. */
  get taken(): number {
    return this.#taken;
  }

  /** Whether it is one's turn at once, which `leave` ends. */
  tryEnter(): boolean {
    if (this.#taken === this.#most) return false;
    this.#taken += 1;
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
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
