type Labels<L extends string> = Readonly<Partial<Record<L, string>>>;

interface Series<L extends string> {
  readonly labels: Labels<L>;
  /** Values by bucket, those above the last bound at the end. */
  readonly counts: Float64Array;
  sum: number;
}

/** One line of an exposition. */
interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

/** Distributions by labels, much cheaper to observe than a Prometheus histogram, whose form they take at each read. */
export class HistogramTally<L extends string> {
  readonly #labelNames: readonly L[];
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series<L>>();

  /** @param bounds upper bounds of the buckets, ascending. */
  constructor(labelNames: readonly L[], bounds: readonly number[]) {
    this.#labelNames = labelNames;
    this.#bounds = bounds;
  }

  /** @param labels a label that is left out is no part of the series. */
  observe(labels: Labels<L>, value: number): void {
    let key = "";
    for (const name of this.#labelNames) key += `${labels[name] ?? ""}\0`;
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels: { ...labels }, counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
      this.#series.set(key, series);
    }
    const at = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? this.#bounds.length : at;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  /** Removes series with a label that is `gone`. */
  forget(gone: (label: string, value: string) => boolean): void {
    for (const [key, { labels }] of this.#series) {
      if (Object.entries<string | undefined>(labels).some(([name, value]) => value !== undefined && gone(name, value)))
        this.#series.delete(key);
    }
  }

  /** The lines of the histogram in an exposition: cumulative buckets, sum and count of each series. */
  samples(name: string): readonly Sample[] {
    return [...this.#series.values()].flatMap(({ labels, counts, sum }) => {
      let total = 0;
      const buckets = [...counts].map((count, at) => {
        total += count;
        return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? "+Inf", ...labels }, value: total };
      });
      return [...buckets, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: total }];
    });
  }
}
