import type { SeriesColumns, SeriesRange } from "@/server/contracts/studio";

const STATISTICS = ["min", "max", "mean", "last", "count"] as const;

const isSame = (known: SeriesRange, taken: SeriesRange): boolean =>
  known.bucketMs === taken.bucketMs &&
  known.series.length === taken.series.length &&
  known.series.every(({ subject, quantity }, at) => subject === taken.series[at]?.subject && quantity === taken.series[at]?.quantity);

/**
 * Columns after newer ones arrived: these replace all from their first bucket on, and what has left the span is dropped. Columns of other
 * series or of wider buckets replace everything, and so does the whole span, which is sent again after a reconnect.
 */
export function mergeColumns(known: SeriesRange | null, taken: SeriesRange, spanMs: number): SeriesRange {
  const from = taken.atMs[0];
  if (known === null || !isSame(known, taken)) return taken;
  if (from === undefined) return { ...known, problems: taken.problems };
  const endMs = (taken.atMs.at(-1) ?? from) + taken.bucketMs;
  const kept = known.atMs
    .map((_, at) => at)
    .filter((at) => (known.atMs[at] ?? 0) < from && (known.atMs[at] ?? 0) + known.bucketMs > endMs - spanMs);
  // Ascending, so that the kept part is contiguous.
  const [begin, end] = kept.length === 0 ? [0, 0] : [kept[0] ?? 0, (kept.at(-1) ?? 0) + 1];
  const series = taken.series.map((newer, at): SeriesColumns => {
    const older = known.series[at] ?? newer;
    const joined = STATISTICS.map((statistic) => [statistic, [...older[statistic].slice(begin, end), ...newer[statistic]]]);
    return { ...newer, ...Object.fromEntries(joined) };
  });
  return { bucketMs: taken.bucketMs, atMs: [...known.atMs.slice(begin, end), ...taken.atMs], series, problems: taken.problems };
}
