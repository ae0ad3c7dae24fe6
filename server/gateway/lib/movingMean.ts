/** Weight of the latest value: some twenty values make up most of the mean. */
const latestWeight = 0.1;

/** Exponential moving average of recent values, without a clock. */
export class MovingMean {
  #mean: number | null = null;

  /** Null until a value was noted. */
  get mean(): number | null {
    return this.#mean;
  }

  note(value: number): void {
    this.#mean = this.#mean === null ? value : this.#mean + latestWeight * (value - this.#mean);
  }
}
