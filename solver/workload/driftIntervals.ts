import { mean, quantileOfSorted } from "../numeric/quantile";

/** A figure of live requests with its sampling interval. */
export interface MeasuredFigure {
  readonly value: number;
  readonly low: number;
  /** Infinity where the sample is too small to bound a percentile from above. */
  readonly high: number;
  /** Number of values it was computed from. */
  readonly count: number;
}

/** Number of blocks: consecutive requests share queues and bursts, and blocks of them show the effect on the error. */
const BLOCKS = 10;

/** Two-sided 99 %: of the normal distribution, and of Student's t with one degree of freedom less than there are blocks. */
const NORMAL_99 = 2.576;
const BLOCKS_T_99 = 3.25;

/**
 * The mean of values in the order they were observed, with its 99 % interval: by the values' own spread or by that of the means of
 * consecutive blocks (batch means; Law, Simulation Modeling and Analysis, chapter 9), whichever is wider.
 *
 * @returns null without values.
 */
export function meanInterval(values: ArrayLike<number>): MeasuredFigure | null {
  if (values.length === 0) return null;
  const value = mean(values);
  const half = halfWidth(values, value);
  return { value, low: value - half, high: value + half, count: values.length };
}

/**
 * The share of 1 among values of 0 and 1 in the order they were observed, with its 99 % interval: Wilson's (Journal of the American
 * Statistical Association 22, 1927), which keeps its width where all values are equal, or that by the means of blocks, whichever is wider.
 *
 * @returns null without values.
 */
export function shareInterval(values: ArrayLike<0 | 1>): MeasuredFigure | null {
  const counted = countedShare(values);
  if (counted === null) return null;
  const { value, low, high, count } = counted;
  const overBlocks = blocksHalfWidth(values);
  return { value, low: Math.max(0, Math.min(low, value - overBlocks)), high: Math.min(1, Math.max(high, value + overBlocks)), count };
}

/**
 * The share of 1 among values of 0 and 1 with Wilson's 99 % interval, regardless of their order. For counted events, such as
 * failed requests: an outage is a sequence of failures, which the means of blocks would treat as chance.
 *
 * @returns null without values.
 */
export function countedShare(values: ArrayLike<0 | 1>): MeasuredFigure | null {
  const count = values.length;
  if (count === 0) return null;
  const value = mean(values);
  const square = NORMAL_99 ** 2 / count;
  const centre = (value + square / 2) / (1 + square);
  const half = (NORMAL_99 * Math.sqrt((value * (1 - value)) / count + square / (4 * count))) / (1 + square);
  return { value, low: Math.max(0, centre - half), high: Math.min(1, centre + half), count };
}

/**
 * A quantile of values in the order they were observed, with its 99 % interval between order statistics: the possible deviation of the
 * share of values below it from `q` gives the ranks that bound it, by the binomial spread or by that over blocks, whichever is wider.
 *
 * @param q above 0 and below 1, so 0.95 for p95.
 * @returns null without values.
 */
export function quantileInterval(values: ArrayLike<number>, q: number): MeasuredFigure | null {
  if (values.length === 0) return null;
  const inOrder = new Float64Array(values);
  const sorted = inOrder.slice().sort();
  const value = quantileOfSorted(sorted, q);
  const below = inOrder.map((one) => (one <= value ? 1 : 0));
  const half = Math.max(halfWidth(below, mean(below)), NORMAL_99 * Math.sqrt((q * (1 - q)) / values.length));
  return {
    value,
    low: quantileOfSorted(sorted, Math.max(0, q - half)),
    high: q + half >= 1 ? Number.POSITIVE_INFINITY : quantileOfSorted(sorted, q + half),
    count: values.length,
  };
}

const halfWidth = (values: ArrayLike<number>, centre: number): number =>
  Math.max(NORMAL_99 * Math.sqrt(variance(values, centre) / values.length), blocksHalfWidth(values));

/** 0 where there are too few values for blocks. */
function blocksHalfWidth(values: ArrayLike<number>): number {
  const size = Math.floor(values.length / BLOCKS);
  if (size < 2) return 0;
  const blocks = Float64Array.from({ length: BLOCKS }, (_, block) => {
    let sum = 0;
    for (let at = block * size; at < (block + 1) * size; at += 1) sum += values[at] ?? 0;
    return sum / size;
  });
  return BLOCKS_T_99 * Math.sqrt(variance(blocks, mean(blocks)) / BLOCKS);
}

/** Variance of a sample; infinite for a single value, which has no spread. */
function variance(values: ArrayLike<number>, centre: number): number {
  if (values.length < 2) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let at = 0; at < values.length; at += 1) sum += ((values[at] ?? 0) - centre) ** 2;
  return sum / (values.length - 1);
}
