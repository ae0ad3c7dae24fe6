import { Labelled, type Labels } from "./labelled";

interface Observed {
  /** Of each bucket alone, and of the values above all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

/** A sample of a histogram's exposition. */
interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

interface HistogramOptions<L extends string> {
  readonly labels: readonly L[];
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

/** Values in buckets by labels, much cheaper than a Prometheus histogram, which is filled from it at each read. */
export class Histogram<L extends string> {
  readonly #bounds: Float64Array;
  readonly #observed: Labelled<L, Observed>;

  constructor({ labels, buckets }: HistogramOptions<L>) {
    this.#bounds = Float64Array.from(buckets);
    this.#observed = new Labelled(labels, () => ({ counts: new Float64Array(buckets.length + 1), sum: 0 }));
  }

  /** @param value finite. */
  observe(labels: Labels<L>, value: number): void {
    const observed = this.#observed.at(labels);
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] ?? 0)) at += 1;
    observed.counts[at] = (observed.counts[at] ?? 0) + 1;
    observed.sum += value;
  }

  /** The samples of Prometheus' text: each bucket counts the values up to its bound. */
  samples(name: string): Sample[] {
    return this.#observed.entries.flatMap(({ labels: all, value: { counts, sum } }) => {
      const labels = withoutEmpty(all);
      let count = 0;
      const buckets = Array.from(counts, (own, at): Sample => {
        count += own;
        return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? "+Inf", ...labels }, value: count };
      });
      return [...buckets, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }];
    });
  }

  /** Removes values with a label that is `gone`. */
  forget(gone: (label: string, value: string) => boolean): void {
    this.#observed.forget(gone);
  }
}

const withoutEmpty = (labels: Readonly<Record<string, string | number>>): Readonly<Record<string, string | number>> =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ""));
