import { readdir } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type HistogramConfiguration,
  Histogram as PrometheusHistogram,
  Registry,
} from "prom-client";
import { deprecatedMetrics } from "@/server/contracts/deprecatedNames";
import { Histogram } from "./histogram";
import { Tally } from "./tally";

type Gone = (label: string, value: string) => boolean;

/** Gauges under names of counters, which Prometheus' own check reports; the same values are exported by type. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

const openFiles = "process_open_fds";

/** Writing the metrics gives way to requests after so long. */
const mostMsAtOnce = 2;

interface Named {
  readonly name: string;
  readonly help: string;
}

/** A metric under its name and, if that changed, under the previous one. */
function namedAlso(name: string, help: string): readonly Named[] {
  const former = deprecatedMetrics[name];
  return former === undefined
    ? [{ name, help }]
    : [
        { name, help },
        { name: former, help: `Deprecated: use ${name}.` },
      ];
}

/** Row of a table of metrics: name, help, labels, and the buckets of a histogram; without them it is a counter. */
type MetricRow = readonly [name: string, help: string, labels: readonly string[], buckets?: readonly number[]];

type MetricOf<Row extends MetricRow> = Row["length"] extends 4 ? Histogram<Row[2][number]> : Tally<Row[2][number]>;

/** A Prometheus histogram whose values are kept elsewhere. */
class ExposedHistogram extends PrometheusHistogram {
  readonly #described: HistogramConfiguration<string>;
  readonly #samples: () => readonly object[];

  constructor(described: HistogramConfiguration<string>, samples: () => readonly object[]) {
    super(described);
    this.#described = described;
    this.#samples = samples;
  }

  /** What the registry writes as text. */
  getForPromString() {
    const { name, help } = this.#described;
    return { name, help, type: "histogram", values: this.#samples() };
  }
}

/** The metrics of the process, including Node's own, with factories that declare each metric in one line. */
export class MetricRegistry {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  /** What is kept by labels. */
  readonly #kept: { forget(gone: Gone): void }[] = [];

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of misnamed) this.#registry.removeSingleMetric(name);
    if (this.#registry.getSingleMetric(openFiles) !== undefined) this.#countOpenFiles();
  }

  /** As the default metric of that name, which blocks the event loop for milliseconds where thousands of connections are open. */
  #countOpenFiles(): void {
    this.#registry.removeSingleMetric(openFiles);
    new Gauge({
      name: openFiles,
      help: "Number of open file descriptors.",
      registers: this.#registers,
      async collect() {
        const files = await readdir("/proc/self/fd").catch(() => null);
        // Less the one of the reading itself.
        if (files !== null) this.set(files.length - 1);
      },
    });
  }

  /** @param tally the count if it is kept elsewhere. */
  counter<L extends string>(name: string, help: string, labelNames: readonly L[], tally = new Tally(labelNames)): Tally<L> {
    this.#kept.push(tally);
    const registers = this.#registers;
    for (const named of namedAlso(name, help))
      new Counter({
        ...named,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const { labels, count } of tally.entries) this.inc(labels, count);
        },
      });
    return tally;
  }

  histogram<L extends string>(
    name: string,
    help: string,
    { labels, buckets }: { labels: readonly L[]; buckets: readonly number[] },
  ): Histogram<L> {
    const histogram = new Histogram({ labels, buckets });
    this.#kept.push(histogram);
    new ExposedHistogram({ name, help, labelNames: labels, buckets: [...buckets], registers: this.#registers }, () =>
      histogram.samples(name),
    );
    return histogram;
  }

  /** The counters and histograms of a table, by its keys. */
  table<const Rows extends Readonly<Record<string, MetricRow>>>(rows: Rows): { readonly [Key in keyof Rows]: MetricOf<Rows[Key]> } {
    const made = Object.entries(rows).map(([key, [name, help, labels, buckets]]) => [
      key,
      buckets === undefined ? this.counter(name, help, labels) : this.histogram(name, help, { labels, buckets }),
    ]);
    return Object.fromEntries(made);
  }

  /** A gauge that is recomputed at every read, so that no series outlives its subject. */
  gauge(name: string, help: string, labelNames: readonly string[], fill: (gauge: Gauge) => void): void {
    const registers = this.#registers;
    for (const named of namedAlso(name, help))
      new Gauge({
        ...named,
        labelNames,
        registers,
        collect() {
          this.reset();
          fill(this);
        },
      });
  }

  /** Removes every series with a label whose value is `gone`. */
  forget(gone: Gone): void {
    for (const kept of this.#kept) kept.forget(gone);
  }

  /** The text exposition and its content type. Requests are served while it is written. */
  async exposition(): Promise<{ readonly text: string; readonly contentType: string }> {
    const metrics: string[] = [];
    let sinceMs = performance.now();
    for (const { name } of this.#registry.getMetricsAsArray()) {
      metrics.push(await this.#registry.getSingleMetricAsString(name));
      if (performance.now() - sinceMs < mostMsAtOnce) continue;
      await setImmediate();
      sinceMs = performance.now();
    }
    return { text: `${metrics.join("\n\n")}\n`, contentType: this.#registry.contentType };
  }
}
