import { goesOn, type Histogram, histogramDelta, histogramQuantile } from "./histogramQuantile";

/** A histogram as it is scraped, with the sum of all that it observed; null where the engine does not write it. */
export interface SummedHistogram extends Histogram {
  readonly sum: number | null;
}

/** What a cumulative histogram observed lately. */
export interface HistogramWindow {
  /**
   * Takes the histogram as read at `atMs`; null is a reading without it.
   *
   * @returns whether a count fell, which they do only when they begin anew.
   */
  take(atMs: number, histogram: SummedHistogram | null): boolean;
  /** What was observed in the window; null while that is not known. */
  observed(): Histogram | null;
  /** By Prometheus' rule, in the histogram's unit; null where nothing was observed in the window. */
  quantile(q: number): number | null;
  /** Exact, unlike the quantiles; null where nothing was observed in the window or no sum is written. */
  mean(): number | null;
}

/** A histogram read as the difference of its newest and its oldest reading in the window; one that fell begins the window anew. */
export function createHistogramWindow(windowMs: number): HistogramWindow {
  /** Readings in a row, oldest first, of which each goes on from the one before. */
  let readings: { readonly atMs: number; readonly histogram: SummedHistogram }[] = [];
  let observed: Histogram | null = null;
  return {
    take(atMs, histogram) {
      const before = readings.at(-1)?.histogram;
      const broken = before !== undefined && histogram !== null && !goesOn(before, histogram);
      if (histogram === null || broken) readings = [];
      if (histogram !== null) readings.push({ atMs, histogram });
      // The newest reading from before the window is where it begins.
      while (readings.length > 2 && (readings[1]?.atMs ?? atMs) <= atMs - windowMs) readings.shift();
      const oldest = readings[0]?.histogram;
      observed = histogram === null || oldest === undefined ? null : histogramDelta(oldest, histogram);
      return broken;
    },
    observed: () => observed,
    quantile: (q) => (observed === null ? null : histogramQuantile(q, observed)),
    mean() {
      const [before, after] = [readings[0]?.histogram.sum ?? null, readings.at(-1)?.histogram.sum ?? null];
      const count = observed?.cumulative.at(-1) ?? 0;
      return before === null || after === null || count === 0 || after < before ? null : (after - before) / count;
    },
  };
}
