import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { LiveFrame, PromiseReport } from "@/server/contracts/studio";
import type { PlanPromise } from "@/server/contracts/studio/promise";
import type { SeriesBookState } from "@/server/series/seriesBook";
import type { Store } from "@/server/store/store";

/** Data that is read for the metrics. */
export interface StudioFacts {
  /** The newest frame of each watched cluster that has one. */
  readonly frames: () => readonly LiveFrame[];
  readonly applications: Store["applications"];
  /** What the plans in force promise and what is measured, by cluster. */
  readonly promises: () => readonly { readonly cluster: string; readonly report: PromiseReport }[];
  /** State of each cluster's stored series. */
  readonly series: () => readonly SeriesBookState[];
}

/** The result of a scrape of one target. */
export interface ScrapeFacts {
  readonly kind: "engine" | "gpu" | "gateway";
  readonly seconds: number;
  readonly ok: boolean;
  /** Lines of its text that could not be read. */
  readonly badLines: number;
}

/** The studio's own Prometheus metrics. Label values come from fixed lists and clusters' ids: they contain no user-defined name. */
export interface StudioMetrics {
  recordScrape(facts: ScrapeFacts): void;
  /** The same planner, with its jobs counted and timed. */
  counting<Planner extends TimedPlanner>(planner: Planner): Planner;
  /** The text exposition and its content type. */
  exposition(): Promise<{ readonly text: string; readonly contentType: string }>;
}

const SCRAPE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const PLANNING_JOBS = ["explore", "solve", "examine", "serve"] as const;
type PlanningJob = (typeof PLANNING_JOBS)[number];

/** The timed methods of a planner. */
type TimedPlanner = Readonly<Record<PlanningJob, (...given: never[]) => Promise<unknown>>>;

const PLANNING_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Gauges under names of counters, which Prometheus' own check reports; the same values are exported by type. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** Creates the registry, including Node's own process metrics. */
export function createStudioMetrics(facts: StudioFacts): StudioMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);

  /** A gauge that is recomputed at every read. */
  const gauge = (name: string, help: string, labelNames: readonly string[], fill: (gauge: Gauge) => void): void => {
    new Gauge({
      name: `weir_studio_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        fill(this);
      },
    });
  };
  /** A counter whose value is counted elsewhere. */
  const counted = (name: string, help: string, read: (series: SeriesBookState) => number): void => {
    new Counter({
      name: `weir_studio_${name}`,
      help,
      registers,
      collect() {
        this.reset();
        for (const series of facts.series()) this.inc(read(series));
      },
    });
  };

  gauge("targets", "Watched targets, by cluster and what is known of them.", ["cluster", "kind", "state"], (one) => {
    for (const { clusterId: cluster, engines, gpuSources, gateway } of facts.frames()) {
      for (const { state } of engines) one.inc({ cluster, kind: "engine", state });
      for (const { state } of gpuSources) one.inc({ cluster, kind: "gpu", state });
      one.inc({ cluster, kind: "gateway", state: gateway.state });
    }
  });
  /** A figure of each plan in force as a whole: figures of one stage or class have names that users chose. */
  const figure = (name: string, help: string, read: (promise: PlanPromise) => number | null): void =>
    gauge(name, help, ["cluster", "quantity"], (one) => {
      for (const { cluster, report } of facts.promises()) {
        for (const promise of report.promises) {
          if (promise.model !== null || promise.quantity === "class-latency") continue;
          const value = read(promise);
          if (value !== null) one.set({ cluster, quantity: promise.quantity }, value);
        }
      }
    });
  figure(
    "plan_promised",
    "What the plan in force predicts: engine seconds, points, shares or USD by quantity.",
    ({ promised }) => promised,
  );
  figure("plan_measured", "The same figures as measured over the window of Live; absent while nothing is.", ({ measured }) => measured);
  figure("plan_promise_broken", "1 while a promise of the plan in force is broken by what is measured.", ({ verdict }) =>
    verdict === "broken" ? 1 : 0,
  );
  gauge("applications", "Plans applied and rolled back, by how they stand.", ["kind", "state"], (one) => {
    for (const { kind, state, count } of facts.applications.counts()) one.set({ kind, state }, count);
  });
  gauge("series", "Series of which the last hour is in memory.", [], (one) => {
    for (const { series } of facts.series()) one.inc(series);
  });
  gauge("series_bytes", "Memory of the samples of the last hour.", [], (one) => {
    for (const { bytes } of facts.series()) one.inc(bytes);
  });
  gauge("roll_up_blocks_waiting", "Blocks of roll-ups that are not written as they are.", [], (one) => {
    for (const { waiting } of facts.series()) one.inc(waiting);
  });
  counted("series_dropped_total", "Series given up because there was no room for more.", (series) => series.dropped.series);
  counted("values_dropped_total", "Values not taken because there was no room for their series.", (series) => series.dropped.values);
  counted("roll_up_blocks_lost_total", "Blocks of roll-ups given up because the store could not be written.", (series) => series.lost);

  const scrapes = new Histogram({
    name: "weir_studio_scrape_seconds",
    help: "Scrapes of targets, failed ones too.",
    labelNames: ["kind", "outcome"],
    buckets: SCRAPE_BUCKETS,
    registers,
  });
  const badLines = new Counter({
    name: "weir_studio_bad_lines_total",
    help: "Lines of targets' texts that could not be read.",
    labelNames: ["kind"],
    registers,
  });
  for (const kind of ["engine", "gpu", "gateway"]) badLines.inc({ kind }, 0);
  const inHand = new Gauge({
    name: "weir_studio_planning_jobs",
    help: "Questions to the planner under way or waiting.",
    labelNames: ["job"],
    registers,
  });
  const planning = new Histogram({
    name: "weir_studio_planning_seconds",
    help: "Questions to the planner, waiting for others included.",
    labelNames: ["job", "outcome"],
    buckets: PLANNING_BUCKETS,
    registers,
  });

  async function timed<Answer>(job: PlanningJob, work: () => Promise<Answer>): Promise<Answer> {
    const end = planning.startTimer({ job });
    inHand.inc({ job });
    try {
      const answer = await work();
      end({ outcome: "answered" });
      return answer;
    } catch (error) {
      end({ outcome: error instanceof Error && error.name === "AbortError" ? "cancelled" : "failed" });
      throw error;
    } finally {
      inHand.dec({ job });
    }
  }
  for (const job of PLANNING_JOBS) inHand.set({ job }, 0);

  return {
    recordScrape({ kind, seconds, ok, badLines: bad }) {
      scrapes.observe({ kind, outcome: ok ? "ok" : "failed" }, seconds);
      badLines.inc({ kind }, bad);
    },
    counting(planner) {
      const jobs = PLANNING_JOBS.map((job) => [job, (...given: never[]) => timed(job, () => planner[job](...given))]);
      return { ...planner, ...Object.fromEntries(jobs) };
    },
    async exposition() {
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}
