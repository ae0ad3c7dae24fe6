/** Normal deviate of a two-sided 90 % interval. */
const DEVIATE = 1.6448536269514722;
const CONFIDENCE = 0.9;

/** Largest standard deviation of a quality of 0 or 100: as many right as wrong. */
const WORST_DEVIATION = 50;

/**
 * Maximum deviation of the mean quality of a random sample from the whole's, in points of 0..100, at 90 %: for a quality that is only 0
 * or 100, equally often, which is the worst case, with the finite population correction (Cochran, Sampling
 * Techniques, 2.8 and 3.2). It also applies to a stratified sample by `allocate`, since each item has the same probability: strata that
 * differ in quality narrow it, those that do not change nothing. (Without the correction, the variance is never above that of a plain
 * sample, for any strata: Chauvet and Ruiz-Gazen, A comparison of pivotal sampling and unequal probability sampling with replacement,
 * 2017.) For an infinite population, such as ongoing traffic, no correction. 50 where nothing was sampled: the middle is at most that far
 * off.
 */
export function sampleInterval(sampled: number, population: number): { readonly confidence: number; readonly points: number } {
  if (sampled >= population) return { confidence: CONFIDENCE, points: 0 };
  if (sampled < 1) return { confidence: CONFIDENCE, points: WORST_DEVIATION };
  const correction = population === Number.POSITIVE_INFINITY ? 1 : (population - sampled) / (population - 1);
  return { confidence: CONFIDENCE, points: Math.min(WORST_DEVIATION, DEVIATE * WORST_DEVIATION * Math.sqrt(correction / sampled)) };
}
