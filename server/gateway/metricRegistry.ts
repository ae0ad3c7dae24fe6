import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

interface Metric {
  get(): Promise<{ readonly values: readonly { readonly labels: Readonly<Partial<Record<string, string | number>>> }[] }>;
  remove(labels: Record<string, string | number>): void;
}

/** The metrics of the process, Node's own among them, and what makes them, so that each is declared in one line. */
export class MetricRegistry {
  readonly #registry = new Registry();
  /** Those that keep a series until it is taken out. */
  readonly #kept: Metric[] = [];

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    const counter = new Counter({ name, help, labelNames, registers: [this.#registry] });
    this.#kept.push(counter as Metric);
    return counter;
  }

  histogram<L extends string>(name: string, help: string, { labels, buckets }: { labels: readonly L[]; buckets: number[] }): Histogram<L> {
    const histogram = new Histogram({ name, help, labelNames: labels, buckets, registers: [this.#registry] });
    this.#kept.push(histogram as Metric);
    return histogram;
  }

  /** A gauge that is filled anew whenever it is read, so that no series outlives what it is about. */
  gauge(name: string, help: string, labelNames: readonly string[], fill: (gauge: Gauge) => void): void {
    const registers = [this.#registry];
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        fill(this);
      },
    });
  }

  /** A counter of totals that are kept elsewhere, one series for each name. */
  totals(name: string, help: string, { label, totals }: { label: string; totals: () => Readonly<Record<string, number>> }): void {
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [value, count] of Object.entries(totals())) this.inc({ [label]: value }, count);
      },
    });
  }

  /** Takes out every series one of whose labels has a value that is `gone`. */
  async forget(gone: (label: string, value: string) => boolean): Promise<void> {
    for (const metric of this.#kept) {
      const { values } = await metric.get();
      for (const { labels } of values) {
        const { le: _, ...own } = labels as Record<string, string>;
        if (Object.entries(own).some(([label, value]) => gone(label, value))) metric.remove(own);
      }
    }
  }

  /** The text exposition and its content type. */
  async exposition(): Promise<{ readonly text: string; readonly contentType: string }> {
    return { text: await this.#registry.metrics(), contentType: this.#registry.contentType };
  }
}
