import type { EngineReadings, Reading } from "@/server/contracts/studio";
import type { Reading as Metric, MetricReadings } from "@/server/engines/readCanonicalMetrics";
import { createCounterRate } from "./counterRate";
import type { Histogram } from "./histogramQuantile";
import { createHistogramWindow, type HistogramWindow } from "./histogramWindow";

/** The combined result of one engine's scrapes. */
export interface EngineWindow {
  /**
   * Adds a scrape at `atMs` of the steady clock.
   * @returns the canonicalMetrics that fell: their counters restarted.
   */
  take(atMs: number, canonicalMetrics: MetricReadings): readonly string[];
  /** As of the newest scrape; null before there is one. */
  readings(): EngineReadings | null;
  /** Over the last seconds, to be summed over the engines of a model; null if the engine has no such histogram. */
  observed(): Observed;
}

export type Observed = Readonly<Record<"ttft" | "tpot", Histogram | null>>;

/** Rates and percentiles cover this much time: some tens of requests at one per second or more, and still responsive. */
const RATE_WINDOW_MS = 15_000;

const counters = ["preemptions", "answered", "promptTokens", "generationTokens", "prefixHits", "prefixQueries"] as const;
const histograms = ["ttftSeconds", "tpotSeconds", "itlSeconds", "endToEndSeconds", "queueSeconds"] as const;

/** The same reading with a value derived from it. */
const asRead = <Value, Made>(metric: Metric<Value>, make: (value: Value) => Made | null): Reading<Made> =>
  metric.state === "value" ? { state: "value", value: make(metric.value) } : metric;

/** Counters are read as rates and histograms as means and percentiles of the last seconds, all in engine seconds. */
export function createEngineWindow(timeScale: number): EngineWindow {
  const each = <Name extends string, Made>(names: readonly Name[], make: () => Made) =>
    Object.fromEntries(names.map((name) => [name, make()])) as Readonly<Record<Name, Made>>;
  const rates = each(counters, () => createCounterRate({ windowMs: RATE_WINDOW_MS, timeScale }));
  const latencies = each(histograms, () => createHistogramWindow(RATE_WINDOW_MS));
  let readings: EngineReadings | null = null;

  const share = (hits: Metric<number>, queries: Metric<number>): Reading => {
    const missing = [hits, queries].find(({ state }) => state !== "value");
    if (missing !== undefined) return asRead(missing, () => null);
    const [found, lookedUp] = [rates.prefixHits.perSecond(), rates.prefixQueries.perSecond()];
    // Each scrape reads the two at slightly different times.
    return { state: "value", value: found === null || lookedUp === null || lookedUp === 0 ? null : Math.min(1, found / lookedUp) };
  };

  const mean = (metric: Metric<unknown>, window: HistogramWindow): Reading => asRead(metric, () => window.mean());
  const percentiles = <Name extends string>(name: Name, metric: Metric<unknown>, window: HistogramWindow) => {
    const percentile = (q: number): Reading => (metric.state === "value" ? { state: "value", value: null, ...window.quantile(q) } : metric);
    return {
      [`${name}P50Seconds`]: percentile(0.5),
      [`${name}P95Seconds`]: percentile(0.95),
      [`${name}P99Seconds`]: percentile(0.99),
    } as Readonly<Record<`${Name}P${50 | 95 | 99}Seconds`, Reading>>;
  };

  return {
    take(atMs, canonicalMetrics) {
      const fell = [
        ...counters.filter((name) => {
          const metric = canonicalMetrics[name];
          return metric.state === "value" ? rates[name].take(atMs, metric.value, metric.series) : rates[name].take(atMs, null);
        }),
        ...histograms.filter((name) => {
          const metric = canonicalMetrics[name];
          return latencies[name].take(atMs, metric.state === "value" ? { ...metric.value, series: metric.series } : null);
        }),
      ];
      const rate = (name: (typeof counters)[number]): Reading => asRead(canonicalMetrics[name], () => rates[name].perSecond());
      const same = (metric: Metric<number>): Reading => asRead(metric, (value) => value);
      readings = {
        running: same(canonicalMetrics.running),
        waiting: same(canonicalMetrics.waiting),
        kvUse: asRead(canonicalMetrics.kvUse, ({ max }) => max),
        kvUseMean: asRead(canonicalMetrics.kvUse, ({ mean }) => mean),
        kvCapacityTokens: same(canonicalMetrics.kvCapacityTokens),
        preemptionsPerSecond: rate("preemptions"),
        requestsPerSecond: rate("answered"),
        promptTokensPerSecond: rate("promptTokens"),
        generationTokensPerSecond: rate("generationTokens"),
        prefixHitShare: share(canonicalMetrics.prefixHits, canonicalMetrics.prefixQueries),
        ttftMeanSeconds: mean(canonicalMetrics.ttftSeconds, latencies.ttftSeconds),
        tpotMeanSeconds: mean(canonicalMetrics.tpotSeconds, latencies.tpotSeconds),
        endToEndMeanSeconds: mean(canonicalMetrics.endToEndSeconds, latencies.endToEndSeconds),
        ...percentiles("ttft", canonicalMetrics.ttftSeconds, latencies.ttftSeconds),
        ...percentiles("tpot", canonicalMetrics.tpotSeconds, latencies.tpotSeconds),
        ...percentiles("itl", canonicalMetrics.itlSeconds, latencies.itlSeconds),
        ...percentiles("endToEnd", canonicalMetrics.endToEndSeconds, latencies.endToEndSeconds),
        ...percentiles("queue", canonicalMetrics.queueSeconds, latencies.queueSeconds),
        sleepState: asRead(canonicalMetrics.sleepState, (value) => value),
      };
      return fell;
    },
    readings: () => readings,
    observed: () => ({ ttft: latencies.ttftSeconds.observed(), tpot: latencies.tpotSeconds.observed() }),
  };
}
