/** An estimate with its 90 % interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Two-sided 90 % of the normal distribution. */
export const NORMAL_90 = 1.6449;

/** Probability that an interval misses. */
const MISS = 0.1;

/**
 * A share of `count` independent values, with Wilson's interval (Journal of the American Statistical Association 22, 1927); null for none.
 * Halves count.
 */
export function shareOf(hits: number, count: number): Interval | null {
  if (count === 0) return null;
  const value = hits / count;
  const square = NORMAL_90 ** 2 / count;
  const centre = (value + square / 2) / (1 + square);
  const half = (NORMAL_90 * Math.sqrt((value * (1 - value)) / count + square / (4 * count))) / (1 + square);
  // At either end rounding must not exclude the value.
  return { value, low: Math.max(0, Math.min(value, centre - half)), high: Math.min(1, Math.max(value, centre + half)) };
}

/**
 * Mean of qualities 0..100: Wilson's interval where all are right or wrong, else Hoeffding's (Journal of the American Statistical
 * Association 58, 1963), which holds for any values in that range and any number of them; null for none.
 */
export function meanQuality(qualities: readonly number[]): Interval | null {
  const sum = qualities.reduce((total, quality) => total + quality, 0);
  if (qualities.every((quality) => quality === 0 || quality === 100)) {
    const share = shareOf(sum / 100, qualities.length);
    return share && { value: 100 * share.value, low: 100 * share.low, high: 100 * share.high };
  }
  const value = sum / qualities.length;
  const half = 100 * Math.sqrt(Math.log(2 / MISS) / (2 * qualities.length));
  return { value, low: Math.max(0, value - half), high: Math.min(100, value + half) };
}

/**
 * Standard error of the mean of labels in 0..100. Two artificial labels, the best and the worst possible, are added for the variance: a
 * sample of right answers only does not prove that none is ever wrong.
 */
export function standardError(accepted: Float64Array): number {
  const n = accepted.length;
  let sum = 0;
  for (const label of accepted) sum += label;
  const centre = sum / n;
  let squares = centre * centre + (100 - centre) * (100 - centre);
  for (const label of accepted) squares += (label - centre) * (label - centre);
  return Math.sqrt(squares / (n + 1) / n);
}
