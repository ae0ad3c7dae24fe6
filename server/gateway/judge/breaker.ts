/** Failures in a row after which nothing is tried for a while, so that requests do not each wait for a timeout. */
const failuresBeforeRest = 3;
const restMs = 5_000;

/** A call that was let go. Reports once how it ended. */
export interface Trial {
  succeeded(): void;
  failed(): void;
  /** The call ended before it could tell. */
  gaveUp(): void;
}

/** Keeps calls from what fails: after failures in a row it rests, then one call tries for all whether it is back. */
export class Breaker {
  #failures = 0;
  #restsUntilMs = 0;
  /** The call that tries for all. */
  #probe: Trial | null = null;

  /** Whether calls are held back; also while the one that tries for all is under way. */
  get resting(): boolean {
    return this.#probe !== null || performance.now() < this.#restsUntilMs;
  }

  /** Lets a call go; null when calls are held back. */
  begin(): Trial | null {
    if (this.resting) return null;
    // A call that began before the rest may still end meanwhile; it ends no other's try.
    const ended = (): void => {
      if (this.#probe === trial) this.#probe = null;
    };
    const trial: Trial = {
      succeeded: () => {
        ended();
        this.#failures = 0;
        this.#restsUntilMs = 0;
      },
      failed: () => {
        ended();
        this.#failures += 1;
        if (this.#failures >= failuresBeforeRest) this.#restsUntilMs = performance.now() + restMs;
      },
      gaveUp: ended,
    };
    if (this.#failures >= failuresBeforeRest) this.#probe = trial;
    return trial;
  }
}
