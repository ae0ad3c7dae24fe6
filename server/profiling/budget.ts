/** Rounding of sums of many small prices. */
const ROUNDING_USD = 1e-12;

/** A job's spending, and the most that calls in flight can still cost, within a cap. US dollars. */
export class Budget {
  #spent: number;
  #reserved = 0;

  /** @param capUsd null: no limit. */
  constructor(
    spentUsd: number,
    public capUsd: number | null,
  ) {
    this.#spent = spentUsd;
  }

  get spentUsd(): number {
    return this.#spent;
  }

  /** Total if all calls in flight cost the most that they can. */
  get atMostUsd(): number {
    return this.#spent + this.#reserved;
  }

  /** Makes room for the most that a call can cost; false: with it the cap could be passed. */
  reserve(mostUsd: number): boolean {
    if (this.capUsd !== null && this.atMostUsd + mostUsd > this.capUsd + ROUNDING_USD) return false;
    this.#reserved += mostUsd;
    return true;
  }

  /** A call with reserved room has ended. */
  settle(mostUsd: number, spentUsd: number): void {
    this.#reserved = Math.max(0, this.#reserved - mostUsd);
    this.#spent += spentUsd;
  }
}
