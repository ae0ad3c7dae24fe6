/** Failures in a row after which nothing is tried for a while, so that requests do not each wait for a timeout. */
const failuresBeforeRest = 3;
const restMs = 5_000;

/** Keeps calls from what fails: after failures in a row it rests, then one call tries for all whether it is back. */
export class Breaker {
  #failures = 0;
  #restsUntilMs = 0;
  #trying = false;

  /** Whether calls are held back; also while the one that tries for all is under way. */
  get resting(): boolean {
    return this.#trying || performance.now() < this.#restsUntilMs;
  }

  /** Whether a call may go now; one that goes is reported as succeeded, failed or given up. */
  begin(): boolean {
    if (this.resting) return false;
    this.#trying = this.#failures >= failuresBeforeRest;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#restsUntilMs = 0;
    this.#trying = false;
  }

  failed(): void {
    this.#failures += 1;
    this.#trying = false;
    if (this.#failures >= failuresBeforeRest) this.#restsUntilMs = performance.now() + restMs;
  }

  /** The call ended before it could tell. */
  gaveUp(): void {
    this.#trying = false;
  }
}
