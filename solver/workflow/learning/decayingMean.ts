import type { KeptMean } from "./workflowSnapshot";

/** Number of observations after which an older one counts e times less: the mean age is that of a window of twice as many. */
const MEMORY = 256;

/** A mean in which old observations fade: the plain mean of the first 256, then each new one has weight 1/256. */
export class DecayingMean {
  private observed: number;
  private mean: number;

  constructor(kept: KeptMean = [0, 0]) {
    [this.observed, this.mean] = kept;
  }

  add(value: number): void {
    this.observed += 1;
    this.mean += (value - this.mean) / Math.min(this.observed, MEMORY);
  }

  /** Null where nothing was observed. */
  get value(): number | null {
    return this.observed === 0 ? null : this.mean;
  }

  keep(): KeptMean {
    return [this.observed, this.mean];
  }
}
