/** Rounding of sums of many small prices. */
const ROUNDING_USD = 1e-12;

/** What a job has spent and can yet have spent with what is under way, held to a cap. US dollars. */
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

  /** Spent if all that is under way costs the most that it can. */
  get atMostUsd(): number {
    return this.#spent + this.#reserved;
  }

  /** Makes room for the most that a call can cost; false: with it the cap could be passed. */
  reserve(mostUsd: number): boolean {
    if (this.capUsd !== null && this.atMostUsd + mostUsd > this.capUsd + ROUNDING_USD) return false;
    this.#reserved += mostUsd;
    return true;
  }

  /** A call that room was made for is over. */
  settle(mostUsd: number, spentUsd: number): void {
    this.#reserved = Math.max(0, this.#reserved - mostUsd);
    this.#spent += spentUsd;
  }
}
