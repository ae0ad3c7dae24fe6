import {
  goesOn,
  type Histogram,
  haveSameBounds,
  histogramDelta,
  histogramQuantile,
  histogramSum,
  type Quantile,
} from "./histogramQuantile";

/** A scraped histogram, with the sum of all its observations; null if the engine does not export it. */
interface SummedHistogram extends Histogram {
  readonly sum: number | null;
  /** Identifies the series in the sum: another number, other series. */
  readonly series: number;
}

/** The recent observations of a cumulative histogram. */
export interface HistogramWindow {
  /**
   * Adds the histogram read at `atMs`; null is a reading without it.
   *
   * @returns whether a count of the same series fell, which happens only at a restart.
   */
  take(atMs: number, histogram: SummedHistogram | null): boolean;
  /** The observations in the window; null while they are not known. */
  observed(): Histogram | null;
  /** In the histogram's unit; null if nothing was observed in the window. */
  quantile(q: number): Quantile | null;
  /** Exact, unlike the quantiles; null if nothing was observed in the window or no sum is exported. */
  mean(): number | null;
}

/**
 * A histogram read as differences, summed over the window. There is no difference between two readings of different series, nor after a
 * fall: the earlier observations of a rank that comes back are not new. Other buckets restart the window.
 */
export function createHistogramWindow(windowMs: number): HistogramWindow {
  let steps: { readonly atMs: number; readonly growth: Histogram; readonly sum: number | null }[] = [];
  let last: SummedHistogram | null = null;
  let observed: Histogram | null = null;
  return {
    take(atMs, histogram) {
      const before = last;
      last = histogram;
      const same = before !== null && histogram !== null && before.series === histogram.series;
      const on = same && goesOn(before, histogram);
      if (on) {
        const sum = before.sum === null || histogram.sum === null || histogram.sum < before.sum ? null : histogram.sum - before.sum;
        steps.push({ atMs, growth: histogramDelta(before, histogram), sum });
      }
      steps = steps.filter((step) => step.atMs > atMs - windowMs && (histogram === null || haveSameBounds(step.growth, histogram)));
      // Without a step the result is zero, in the buckets of the newest reading.
      observed = histogram === null ? null : histogramSum([histogramDelta(histogram, histogram), ...steps.map(({ growth }) => growth)]);
      return same && !on;
    },
    observed: () => observed,
    quantile: (q) => (observed === null ? null : histogramQuantile(q, observed)),
    mean() {
      const count = observed?.cumulative.at(-1) ?? 0;
      let sum = 0;
      for (const step of steps) sum += step.sum ?? Number.NaN;
      return count === 0 || Number.isNaN(sum) ? null : sum / count;
    },
  };
}
