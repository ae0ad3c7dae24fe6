import { seededRandom } from "./random";

/** Resamples of a bootstrap interval: the ends of a 90 % interval then move by less than a tenth of its width from seed to seed. */
const RESAMPLES = 500;

/**
 * Resamples of as many observations as there are, with replacement (Efron 1979): how often each observation was drawn. The same seed gives
 * the same resamples, so that two statistics of the same observations can be compared pair by pair.
 */
export function* resampledCounts(observations: number, seed: number): Generator<Int32Array> {
  const random = seededRandom(seed);
  for (let resample = 0; resample < RESAMPLES; resample += 1) {
    const drawn = new Int32Array(observations);
    for (let draw = 0; draw < observations; draw += 1) {
      const at = random.int(observations);
      drawn[at] = (drawn[at] ?? 0) + 1;
    }
    yield drawn;
  }
}
