import {
  goesOn,
  type Histogram,
  haveSameBounds,
  histogramDelta,
  histogramQuantile,
  histogramSum,
  type Quantile,
} from "./histogramQuantile";

/** A histogram as it is scraped, with the sum of all that it observed; null where the engine does not write it. */
interface SummedHistogram extends Histogram {
  readonly sum: number | null;
  /** Tells which series it was added up of: another number, other series. */
  readonly series: number;
}

/** What a cumulative histogram observed lately. */
export interface HistogramWindow {
  /**
   * Takes the histogram as read at `atMs`; null is a reading without it.
   *
   * @returns whether a count of the same series fell, which they do only when they begin anew.
   */
  take(atMs: number, histogram: SummedHistogram | null): boolean;
  /** What was observed in the window; null while that is not known. */
  observed(): Histogram | null;
  /** In the histogram's unit; null where nothing was observed in the window. */
  quantile(q: number): Quantile | null;
  /** Exact, unlike the quantiles; null where nothing was observed in the window or no sum is written. */
  mean(): number | null;
}

/**
 * A histogram read as differences, added up over the window. Between two readings of other series nothing is said, nor over one that
 * fell: what a rank that comes back had long observed is not new. Other buckets begin the window anew.
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
      // Without a step that is nothing, in the buckets of the newest reading.
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
