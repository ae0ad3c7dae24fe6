import { mixSeed, seededRandom } from "../numeric/random";
import type { PaceVariation } from "./replicaModel";

/** An engine's pace over virtual time: a function of the time alone, whatever was asked before. */
export class Pace {
  private stretch = Number.NaN;
  private factor = 1;

  constructor(private readonly variation: PaceVariation) {}

  /** The factor by which a step is longer that begins at a time. */
  at(seconds: number): number {
    const { deviation, seconds: length, firstStretch = 0 } = this.variation;
    const stretch = firstStretch + Math.floor(seconds / length);
    if (stretch !== this.stretch) {
      this.stretch = stretch;
      this.factor = seededRandom(mixSeed("pace", stretch)).lognormal(-(deviation ** 2) / 2, deviation);
    }
    return this.factor;
  }
}
