/** Failures in a row after which nothing is tried for a while, so that requests do not each wait for a timeout. */
const failuresBeforeOpen = 3;
const openMs = 5_000;

/** A call that was let go. Reports once how it ended. */
export interface Trial {
  succeeded(): void;
  failed(): void;
  /** The call ended before it could tell. */
  gaveUp(): void;
}

/** A circuit breaker: opens after failures in a row; then one call tests whether the target is back. */
export class Breaker {
  #failures = 0;
  #openUntilMs = 0;
  /** The call that tries for all. */
  #probe: Trial | null = null;

  /** Whether calls are held back; also while the one that tries for all is under way. */
  get isOpen(): boolean {
    return this.#probe !== null || performance.now() < this.#openUntilMs;
  }

  /** Lets a call go; null when calls are held back. */
  begin(): Trial | null {
    if (this.isOpen) return null;
    // A call that began before the circuit opened may still end; it ends no other's try.
    const ended = (): void => {
      if (this.#probe === trial) this.#probe = null;
    };
    const trial: Trial = {
      succeeded: () => {
        ended();
        this.#failures = 0;
        this.#openUntilMs = 0;
      },
      failed: () => {
        ended();
        this.#failures += 1;
        if (this.#failures >= failuresBeforeOpen) this.#openUntilMs = performance.now() + openMs;
      },
      gaveUp: ended,
    };
    if (this.#failures >= failuresBeforeOpen) this.#probe = trial;
    return trial;
  }
}
