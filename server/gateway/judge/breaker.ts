/** Consecutive failures after which calls are blocked for a while, so that requests do not each wait for a timeout. */
const failuresBeforeOpen = 3;
const openMs = 5_000;

/** An admitted call. Reports its outcome once. */
export interface Trial {
  succeeded(): void;
  failed(): void;
  /** The call ended without an outcome. */
  gaveUp(): void;
}

/** A circuit breaker: opens after consecutive failures; then one call tests whether the target is back. */
export class Breaker {
  #failures = 0;
  #openUntilMs = 0;
  /** The call that tests the target. */
  #probe: Trial | null = null;

  /** Whether calls are blocked; also while the test call is in flight. */
  get isOpen(): boolean {
    return this.#probe !== null || performance.now() < this.#openUntilMs;
  }

  /** Admits a call; null if calls are blocked. */
  begin(): Trial | null {
    if (this.isOpen) return null;
    // A call that began before the circuit opened may still end; it does not end another's test.
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
