import type { Limit } from "@/server/contracts/studio/watchedTarget";

/** A Prometheus histogram at one moment: upper bounds ascending, the last one +Inf, and the count at or below each. */
export interface Histogram {
  readonly bounds: readonly number[];
  readonly cumulative: readonly number[];
}

/** Number of observations. */
const observations = (histogram: Histogram): number => histogram.cumulative.at(-1) ?? 0;

/** Whether both have the same buckets and no count fell, which happens only at a restart of an engine. */
export function goesOn(before: Histogram, after: Histogram): boolean {
  return haveSameBounds(before, after) && before.cumulative.every((count, at) => (after.cumulative[at] ?? 0) >= count);
}

/** Whether the buckets of both have the same meaning. */
export function haveSameBounds(one: Histogram, other: Histogram): boolean {
  return one.bounds.length === other.bounds.length && one.bounds.every((bound, at) => bound === other.bounds[at]);
}

/**
 * What was observed between two scrapes of one target. A count that fell, or other buckets, mean that the engine was restarted: its present
 * counts were observed since.
 */
export function histogramDelta(before: Histogram, after: Histogram): Histogram {
  if (!goesOn(before, after)) return after;
  return { bounds: after.bounds, cumulative: after.cumulative.map((count, at) => count - (before.cumulative[at] ?? 0)) };
}

/** The sum of several histograms; null if their buckets differ, since their counts are not comparable, or there are none. */
export function histogramSum([first, ...rest]: readonly Histogram[]): Histogram | null {
  if (first === undefined) return null;
  if (!rest.every((one) => haveSameBounds(one, first))) return null;
  const cumulative = first.cumulative.map((count, at) => rest.reduce((sum, one) => sum + (one.cumulative[at] ?? 0), count));
  return { bounds: first.bounds, cumulative };
}

/** A quantile, or its upper or lower limit. */
export interface Quantile {
  readonly value: number;
  readonly limit?: Limit;
}

/**
 * Quantile by Prometheus' rule (`histogram_quantile`), linear inside the bucket that holds the rank. But in the first bucket nothing is
 * known below its bound, nor in the open one above the highest finite bound: there the bound itself is given, and which way it limits.
 *
 * @param q 0..1
 * @returns the quantile in the histogram's unit, null when nothing was observed.
 */
export function histogramQuantile(q: number, histogram: Histogram): Quantile | null {
  const total = observations(histogram);
  if (!(total > 0)) return null;
  const rank = q * total;
  const at = histogram.cumulative.findIndex((count) => count >= rank);
  const bound = histogram.bounds[at] ?? Number.POSITIVE_INFINITY;
  const lower = histogram.bounds[at - 1];
  if (!Number.isFinite(bound)) return lower === undefined ? null : { value: lower, limit: "lower" };
  if (lower === undefined) return { value: bound, limit: "upper" };
  const below = histogram.cumulative[at - 1] ?? 0;
  const inside = (histogram.cumulative[at] ?? 0) - below;
  return { value: inside > 0 ? lower + ((bound - lower) * (rank - below)) / inside : bound };
}
