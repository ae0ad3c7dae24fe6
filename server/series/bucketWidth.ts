const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Every width from 10 s on is a multiple of the 10 s roll-ups, from a minute on of the minute roll-ups: no step is in two buckets. */
const widths: readonly number[] = [
  ...[1, 2, 5, 10, 20, 30].map((count) => count * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE_MS),
  ...[1, 2, 3, 6, 12, 24].map((count) => count * HOUR_MS),
];

/**
 * Width of a chart's buckets: round, so that buckets that begin at whole multiples of it since 1970 are identical in every request, and a
 * chart that follows the present replaces its newest ones instead of shifting all.
 *
 * @param points that a span has at most, but for one more where it begins within a bucket.
 * @param leastMs no narrower than this.
 */
export function bucketWidth(spanMs: number, points: number, leastMs = 0): number {
  const neededMs = Math.max(leastMs, spanMs / points);
  return widths.find((width) => width >= neededMs) ?? DAY_MS * Math.ceil(neededMs / DAY_MS);
}

/** No range is longer: the roll-ups of a minute, kept longest, go back thirty days. */
export const LONGEST_RANGE_MS = 31 * DAY_MS;

/** The one rule for how much is read at once: nothing that is yet to come, and of a longer range the last 31 days. */
export function boundedRange({ fromMs, toMs }: TimeRange, nowMs: number): TimeRange {
  const endMs = Math.min(toMs, nowMs + 1);
  return { fromMs: Math.min(endMs, Math.max(fromMs, endMs - LONGEST_RANGE_MS)), toMs: endMs };
}

export interface TimeRange {
  readonly fromMs: number;
  /** Exclusive end of the range. */
  readonly toMs: number;
}

/** The buckets that a range of time touches. */
export interface Buckets {
  readonly bucketMs: number;
  /** When the first begins. */
  readonly fromMs: number;
  readonly count: number;
}

/** Whole buckets: a range is widened to their boundaries. */
export function bucketsOf({ fromMs, toMs, bucketMs }: TimeRange & { readonly bucketMs: number }): Buckets {
  const first = Math.floor(fromMs / bucketMs);
  return { bucketMs, fromMs: first * bucketMs, count: Math.max(0, Math.ceil(toMs / bucketMs) - first) };
}
