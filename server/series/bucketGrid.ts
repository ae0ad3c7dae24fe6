import type { SeriesColumns, SeriesKey, SeriesRange } from "@/server/contracts/studio/seriesRange";
import type { Buckets } from "./bucketWidth";

/** Some samples of a series, in a few numbers. */
export interface Summary {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly last: number;
  readonly count: number;
}

/** One series that is being placed on the grid. */
interface GridSeries {
  add(atMs: number, summary: Summary): void;
}

/** Equal buckets over a range, on which series of samples and of roll-ups are placed, the older ones first. */
export interface BucketGrid {
  /** Records that samples were collected from `firstMs`, which is in the range, to `lastMs`, whether or not any series has a value. */
  cover(firstMs: number, lastMs: number): void;
  series(key: SeriesKey): GridSeries;
  /** All series so far. Buckets in which nothing was collected are left out, save one for each gap longer than `gapMs`. */
  answer(gapMs: number, problems: readonly string[]): SeriesRange;
}

interface Cells extends SeriesKey {
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly sum: Float64Array;
  readonly last: Float64Array;
  readonly count: Float64Array;
}

/** Creates a grid over a range. A bucket may be narrower than the time between two samples: one without a sample is then not yet a gap. */
export function createBucketGrid({ bucketMs, fromMs, count: buckets }: Buckets): BucketGrid {
  const firstMs = new Float64Array(buckets).fill(Number.POSITIVE_INFINITY);
  const lastMs = new Float64Array(buckets).fill(Number.NEGATIVE_INFINITY);
  const all: Cells[] = [];
  const bucketOf = (atMs: number): number => Math.floor((atMs - fromMs) / bucketMs);

  /** Positions of the buckets to give, in order. */
  const shown = (gapMs: number): number[] => {
    const positions: number[] = [];
    let before = Number.POSITIVE_INFINITY;
    for (let at = 0; at < buckets; at += 1) {
      if (firstMs[at] === Number.POSITIVE_INFINITY) continue;
      const previous = positions.at(-1);
      if (previous !== undefined && previous + 1 < at && (firstMs[at] ?? 0) - before > gapMs) positions.push(previous + 1);
      positions.push(at);
      before = lastMs[at] ?? 0;
    }
    return positions;
  };

  return {
    cover(first, last) {
      const at = bucketOf(first);
      firstMs[at] = Math.min(firstMs[at] ?? 0, first);
      lastMs[at] = Math.max(lastMs[at] ?? 0, last);
    },
    series(key) {
      const column = (value: number) => new Float64Array(buckets).fill(value);
      const cells: Cells = { ...key, min: column(Infinity), max: column(-Infinity), sum: column(0), last: column(0), count: column(0) };
      all.push(cells);
      return {
        add(atMs, { min, max, mean, last, count }) {
          const at = bucketOf(atMs);
          cells.min[at] = Math.min(cells.min[at] ?? 0, min);
          cells.max[at] = Math.max(cells.max[at] ?? 0, max);
          cells.sum[at] = (cells.sum[at] ?? 0) + mean * count;
          cells.last[at] = last;
          cells.count[at] = (cells.count[at] ?? 0) + count;
        },
      };
    },
    answer(gapMs, problems) {
      const positions = shown(gapMs);
      return {
        bucketMs,
        atMs: positions.map((at) => fromMs + at * bucketMs),
        series: all.map((cells) => columns(cells, positions)),
        problems,
      };
    },
  };
}

function columns({ subject, quantity, ...cells }: Cells, positions: readonly number[]): SeriesColumns {
  const countAt = (at: number): number => cells.count[at] ?? 0;
  const pick = (values: Float64Array) => positions.map((at) => (countAt(at) === 0 ? null : (values[at] ?? null)));
  return {
    subject,
    quantity,
    min: pick(cells.min),
    max: pick(cells.max),
    mean: positions.map((at) => (countAt(at) === 0 ? null : (cells.sum[at] ?? 0) / countAt(at))),
    last: pick(cells.last),
    count: positions.map(countAt),
  };
}
