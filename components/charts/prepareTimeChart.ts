import type { SeriesColumns, SeriesRange } from "@/server/contracts/studio";
import type { ChartMark, ChartSeries, ChartSpec, PredictedBand, TimeWindow } from "./chartSpec";
import { niceTicks } from "./niceTicks";
import { type PathPoint, seriesPath } from "./seriesPath";
import { timeTicks } from "./timeTicks";

/** Lines of one chart that eyes can follow. */
export const MAX_SERIES = 12;
/** Room above the highest value or promise. */
const HEADROOM = 1.05;
const VALUE_TICKS = 4;
const TICK_PX = 60;
/** One sample may be lost and one late: only then does a gap count. */
const GAP_SAMPLES = 3;
/** Half the width of a time label, less the margin next to the plot: nearer to the edge it would be cut off. */
const EDGE_PX = 18;

export interface PlotSize {
  readonly width: number;
  readonly height: number;
}

/** A line with its values, bucket by bucket of the picture. */
interface DrawnSeries extends Omit<ChartSeries, "key"> {
  readonly id: string;
  readonly path: string;
  /** What is drawn of each bucket; null is a gap. */
  readonly values: readonly (number | null)[];
  /** What was least and greatest in each bucket. */
  readonly lows: readonly (number | null)[];
  readonly highs: readonly (number | null)[];
  /** The newest sample; null where there is none near the end of the window: a sample before a gap does not describe the present. */
  readonly last: number | null;
}

interface DrawnBand {
  readonly id: string;
  readonly hue: string;
  /** null: both ends alike. */
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | null;
  readonly line: string;
}

/** All that is drawn of a chart over time, in pixels of its plot, and what its crosshair and table read. */
export interface TimePicture {
  readonly window: TimeWindow;
  readonly size: PlotSize;
  /** When each bucket begins, the same for all series. */
  readonly atMs: readonly number[];
  readonly bucketMs: number;
  /** Where each bucket is drawn. */
  readonly x: readonly number[];
  readonly series: readonly DrawnSeries[];
  /** Series there are, drawn or not. */
  readonly seriesInAll: number;
  readonly hasValues: boolean;
  readonly bands: readonly DrawnBand[];
  readonly marks: readonly { readonly x: number; readonly text: string }[];
  readonly threshold: { readonly y: number; readonly text: string } | null;
  readonly timeTicks: readonly { readonly atMs: number; readonly x: number; readonly text: string }[];
  readonly valueTicks: readonly { readonly y: number; readonly text: string }[];
  /** Values at the lower and upper edge. */
  readonly bottom: number;
  readonly top: number;
}

export interface TimeChartInput {
  readonly spec: ChartSpec;
  readonly range: SeriesRange;
  readonly window: TimeWindow;
  readonly bands: readonly PredictedBand[];
  readonly marks: readonly ChartMark[];
}

/** The position of a time in a window of so many pixels. */
const xOf = (atMs: number, { fromMs, toMs }: TimeWindow, width: number): number => ((atMs - fromMs) / (toMs - fromMs)) * width;

/**
 * Prepares a chart over time: which series, which buckets, axes, paths. Nothing is drawn where nothing was measured: a bucket without a
 * value interrupts the line, and the whole window is shown, also where the data ends before it. Buckets are drawn at their middle.
 * `offsetAt` gives the minutes that are added to UTC for local time.
 */
export function prepareTimeChart(input: TimeChartInput, size: PlotSize, offsetAt: (atMs: number) => number): TimePicture {
  const { spec, range, window } = input;
  const { fromMs, toMs } = window;
  const middle = (at: number): number => (range.atMs[at] ?? 0) + range.bucketMs / 2;
  // The newest bucket is still filling: its middle may be ahead of now.
  const first = range.atMs.findIndex((_, at) => middle(at) >= fromMs);
  const end = 1 + range.atMs.findLastIndex((atMs) => atMs < toMs);
  const atMs = first === -1 ? [] : range.atMs.slice(first, end);
  const x = atMs.map((_, at) => xOf(Math.min(middle(first + at), toMs), window, size.width));
  const columnsOf = ({ key }: ChartSeries): SeriesColumns | undefined =>
    range.series.find(({ subject, quantity }) => subject === key.subject && quantity === key.quantity);
  const pick = (column: readonly (number | null)[] | undefined) => (column === undefined ? atMs.map(() => null) : column.slice(first, end));
  const all = spec.series.map((series) => {
    const columns = columnsOf(series);
    const values = pick(columns?.[spec.draws]);
    return {
      series,
      values,
      newest: pick(columns?.last),
      counts: columns?.count.slice(first, end) ?? [],
      lows: pick(columns?.min),
      highs: pick(columns?.max),
      ...extremes(values),
    };
  });
  const chosen = new Set(all.toSorted((a, b) => b.highest - a.highest).slice(0, MAX_SERIES));
  const drawn = all.filter((each) => chosen.has(each));
  const sampleMs = timeBetweenSamples(atMs, range.bucketMs, mostInBucket(all.map(({ counts }) => counts)));

  const bands = input.bands.filter((band) => band.toMs > fromMs && band.fromMs < toMs);
  const highest = Math.max(0, ...drawn.map((each) => each.highest), ...bands.map(({ high }) => high), spec.threshold?.value ?? 0);
  const lowest = Math.min(0, ...drawn.map((each) => each.lowest));
  const { bottom, top, ticks } = axis({ lowest, highest, atLeast: spec.atLeast ?? 0, perUnit: spec.perUnit ?? 1 });
  const y = (value: number): number => size.height * (1 - (value - bottom) / (top - bottom));

  return {
    window,
    size,
    atMs,
    bucketMs: range.bucketMs,
    x,
    series: drawn.map(({ series: { key, ...look }, values, newest, lows, highs }) => ({
      ...look,
      id: `${key.subject} ${key.quantity}`,
      path: seriesPath(runsOf(values, x, y)),
      values,
      lows,
      highs,
      last: newestSample(newest, { atMs, bucketMs: range.bucketMs, toMs, sampleMs }),
    })),
    seriesInAll: all.length,
    hasValues: drawn.some((each) => each.highest > Number.NEGATIVE_INFINITY),
    bands: bands.map((band) => drawnBand(band, window, size.width, y)),
    marks: input.marks
      .filter(({ atMs }) => atMs > fromMs && atMs < toMs)
      .map(({ atMs, text }) => ({ x: xOf(atMs, window, size.width), text })),
    threshold: spec.threshold === undefined ? null : { y: y(spec.threshold.value), text: spec.threshold.text },
    timeTicks: timeTicks(window, Math.max(1, Math.floor(size.width / TICK_PX)), offsetAt)
      .map(({ atMs, text }) => ({ atMs, x: xOf(atMs, window, size.width), text }))
      .filter((tick) => tick.x <= size.width - EDGE_PX),
    valueTicks: ticks.map((value) => ({ y: y(value), text: `${tickText(value / (spec.perUnit ?? 1))}${spec.unit}` })),
    bottom,
    top,
  };
}

/** Samples in the fullest bucket of all series; 1 where none has any. */
const mostInBucket = (series: readonly (readonly number[])[]): number =>
  series.reduce((most, counts) => counts.reduce((greatest, count) => Math.max(greatest, count), most), 1);

/** Derived from the fullest bucket, or from the nearest two where buckets are narrower than the sampling interval. */
function timeBetweenSamples(atMs: readonly number[], bucketMs: number, mostInBucket: number): number {
  const apart = atMs.slice(1).map((at, before) => at - (atMs[before] ?? 0));
  return apart.reduce((least, gap) => Math.min(least, gap), apart[0] ?? bucketMs) / mostInBucket;
}

/** The newest value, unless more than a sample or two are missing after it. The next bucket may not have come yet. */
function newestSample(
  values: readonly (number | null)[],
  of: { readonly atMs: readonly number[]; readonly bucketMs: number; readonly toMs: number; readonly sampleMs: number },
): number | null {
  const at = values.findLastIndex((value) => value !== null);
  const silentMs = of.toMs - (of.atMs[at] ?? 0) - of.bucketMs;
  const awaitedMs = at === values.length - 1 ? of.bucketMs : 0;
  return silentMs > GAP_SAMPLES * of.sampleMs + awaitedMs ? null : (values[at] ?? null);
}

function extremes(values: readonly (number | null)[]): { readonly lowest: number; readonly highest: number } {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === null) continue;
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  return { lowest, highest };
}

/** From zero up to a round number above all values: an edge that follows each value would move the whole chart. */
function axis(wanted: { readonly lowest: number; readonly highest: number; readonly atLeast: number; readonly perUnit: number }) {
  const { lowest, highest, atLeast, perUnit } = wanted;
  const reach = (highest > atLeast ? highest * HEADROOM : atLeast) / perUnit || 1;
  const low = lowest / perUnit;
  const [first = 0, second = 1] = niceTicks({ low: 0, high: reach - low, count: VALUE_TICKS });
  const step = second - first;
  const bottom = Math.floor(low / step) * step;
  const top = Math.ceil(Number((reach / step).toPrecision(12))) * step;
  return {
    bottom: bottom * perUnit,
    top: top * perUnit,
    ticks: niceTicks({ low: bottom, high: top, count: (top - bottom) / step }).map((tick) => tick * perUnit),
  };
}

// Making one takes longer than drawing a line.
const plainNumbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });
const shortNumbers = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** `0.25`, `1,500`, `20k`: as short as an axis needs. */
function tickText(value: number): string {
  const rounded = Number(value.toPrecision(6));
  return Math.abs(rounded) < 10_000 ? plainNumbers.format(rounded) : shortNumbers.format(rounded).replace("K", "k");
}

/** The stretches of a line between its gaps. */
function runsOf(values: readonly (number | null)[], x: readonly number[], y: (value: number) => number): readonly PathPoint[][] {
  const runs: PathPoint[][] = [];
  let run: PathPoint[] | null = null;
  for (const [at, value] of values.entries()) {
    if (value === null) run = null;
    else {
      if (run === null) {
        run = [];
        runs.push(run);
      }
      run.push({ x: x[at] ?? 0, y: y(value) });
    }
  }
  return runs;
}

function drawnBand(band: PredictedBand, window: TimeWindow, width: number, y: (value: number) => number): DrawnBand {
  const [left, right] = [Math.max(0, xOf(band.fromMs, window, width)), Math.min(width, xOf(band.toMs, window, width))];
  const [upper, lower] = [y(band.high), y(band.low)];
  return {
    id: `${band.fromMs} ${band.hue ?? ""} ${band.value}`,
    hue: band.hue ?? "var(--accent)",
    box: lower - upper < 0.5 ? null : { x: left, y: upper, width: right - left, height: lower - upper },
    line: `M${left} ${y(band.value)}H${right}`,
  };
}
