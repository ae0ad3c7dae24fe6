import type { SeriesKey } from "@/server/contracts/studio";

/** A line of a chart over time. */
export interface ChartSeries {
  readonly key: SeriesKey;
  readonly name: string;
  readonly hue: string;
  readonly dashed: boolean;
}

/** What a chart over time draws, and how its numbers read. */
export interface ChartSpec {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** Suffix of the numbers on the axis: `" s"`, `" %"`. */
  readonly unit: string;
  /** The size of one `unit` in the values' own unit, where they differ: 0.01 for shares in per cent, 2 ** 30 for bytes in GiB. */
  readonly perUnit?: number;
  /** A value with its unit, for readout, key and table. */
  readonly format: (value: number) => string;
  /** In the order of the key. Beyond `MAX_SERIES` those that rose highest are drawn. */
  readonly series: readonly ChartSeries[];
  /** Which statistic of a bucket is drawn: the mean, or the maximum where spikes matter. */
  readonly draws: "mean" | "max";
  /** The axis reaches at least up to this, in the values' unit: 1 for shares. */
  readonly atLeast?: number;
  /** A line across the chart, in the values' unit. */
  readonly threshold?: { readonly value: number; readonly text: string };
  /** The meaning of the bands behind the lines; `predicted` unless given. */
  readonly promise?: string;
}

/** A plan's promise over the time it was in force: a band with the point prediction inside it. If both ends are equal: a line alone. */
export interface PredictedBand {
  readonly fromMs: number;
  readonly toMs: number;
  readonly low: number;
  readonly high: number;
  readonly value: number;
  /** Hue of the series that it belongs to, where a chart has several; the accent unless given. */
  readonly hue?: string;
}

/** An instant marked across a chart, such as a change of the plan in force, with its description. */
export interface ChartMark {
  readonly atMs: number;
  readonly text: string;
}

/** A stretch of time. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}
