import type { LiveFrame, Sample } from "@/server/contracts/studio";

export interface Series {
  readonly key: string;
  readonly name: string;
  readonly hue: string;
  readonly dashed: boolean;
  readonly read: (frame: LiveFrame) => Sample;
}

/** One point of time with a value or a gap per series. */
export type SeriesRow = { readonly atMs: number } & Readonly<Record<string, Sample>>;

/** Series of one chart that eyes can follow. */
export const MAX_SERIES = 12;
/** Frames come once a second; a longer silence is drawn as a gap, not bridged by a line. */
const GAP_MS = 3_500;

export interface SeriesPicture {
  readonly rows: readonly SeriesRow[];
  readonly series: readonly Omit<Series, "read">[];
  /** Series left out beyond the cap. */
  readonly omitted: number;
  /** Whether any value is there at all. */
  readonly hasValues: boolean;
  /** Highest value of any series; 0 where there is none. */
  readonly highest: number;
}

/** Decides a live chart's rows: absent values stay gaps, and so does time in which no frame came. */
export function prepareSeries(frames: readonly LiveFrame[], all: readonly Series[], rangeSeconds: number): SeriesPicture {
  const series = all.slice(0, MAX_SERIES);
  const from = (frames.at(-1)?.atMs ?? 0) - rangeSeconds * 1000;
  const rows: SeriesRow[] = [];
  let hasValues = false;
  let highest = 0;
  let before: number | null = null;
  for (const frame of frames) {
    if (frame.atMs < from) continue;
    if (before !== null && frame.atMs - before > GAP_MS) {
      rows.push({ atMs: before + 1, ...Object.fromEntries(series.map((each) => [each.key, null])) });
    }
    const values = series.map((each) => [each.key, each.read(frame)] as const);
    for (const [, value] of values) {
      if (value === null) continue;
      hasValues = true;
      highest = Math.max(highest, value);
    }
    rows.push({ atMs: frame.atMs, ...Object.fromEntries(values) });
    before = frame.atMs;
  }
  return { rows, series: series.map(({ read: _, ...rest }) => rest), omitted: all.length - series.length, hasValues, highest };
}

/** Sum of what is known; null when nothing is: a sum over gaps must not look like a low value. */
export function sumKnown(values: readonly Sample[]): Sample {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
