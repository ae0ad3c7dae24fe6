import type { KeptMean } from "./workflowSnapshot";

/** Observations after which an older one counts e times less: as old on average as those of a window of twice as many. */
const MEMORY = 256;

/** A mean in which old observations fade: of the first 256 as it is, then each new one counts a 256th. */
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
