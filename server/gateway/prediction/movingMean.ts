/** Of what was noted last: the twenty or so before it make up most of the mean. */
const latestWeight = 0.1;

/** Exponential moving average: what it is of late, without a clock. */
export class MovingMean {
  #mean: number | null = null;

  /** Null until something was noted. */
  get mean(): number | null {
    return this.#mean;
  }

  note(value: number): void {
    this.#mean = this.#mean === null ? value : this.#mean + latestWeight * (value - this.#mean);
  }
}
