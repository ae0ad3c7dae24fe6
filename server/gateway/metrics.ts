import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Decision } from "@/server/contracts/gatewayAdmin";
import type { Serving } from "./serving";
import type { Usage } from "./usage";

// vLLM's bucket edges (vllm/v1/metrics/loggers.py), so that quantiles of gateway and engines compare.
const ttftBuckets = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560];
const requestBuckets = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

/** Stands for a served name in the counts of requests that named none: what clients write never becomes a label. */
const unknownName = "unknown";

/** The gateway's Prometheus metrics. Label values come from the configuration and from fixed lists, never from requests. */
export class GatewayMetrics {
  #refusedCount = 0;
  #unjudgedCount = 0;
  readonly #registry = new Registry();
  readonly #requests = this.#counter("weir_gateway_requests_total", "Requests answered, by served name and status.", ["served", "status"]);
  readonly #answers = this.#counter("weir_gateway_stage_answers_total", "What became of engines' answers, by model.", ["model", "verdict"]);
  readonly #unjudged = this.#counter("weir_gateway_unjudged_answers_total", "Answers accepted because the judge gave no score.", ["model"]);
  readonly #duration = this.#histogram("weir_gateway_request_seconds", "End to end, in engine seconds.", {
    labels: ["served"],
    buckets: requestBuckets,
  });
  readonly #ttft = this.#histogram(
    "weir_gateway_time_to_first_token_seconds",
    "To the first token sent to the client, in engine seconds.",
    {
      labels: ["served"],
      buckets: ttftBuckets,
    },
  );
  readonly #overhead = this.#histogram(
    "weir_gateway_overhead_seconds",
    "What the gateway itself took, without queues, engines and judge; engine seconds.",
    {
      labels: ["served"],
      buckets: overheadBuckets,
    },
  );
  readonly #stage = this.#histogram("weir_gateway_stage_seconds", "One engine call, in engine seconds.", {
    labels: ["model"],
    buckets: requestBuckets,
  });
  readonly #queue = this.#histogram("weir_gateway_queue_seconds", "In the gateway's queue of the model, in engine seconds.", {
    labels: ["model"],
    buckets: ttftBuckets,
  });
  readonly #judge = this.#histogram("weir_gateway_judge_seconds", "One judge call, in engine seconds.", {
    labels: ["model"],
    buckets: ttftBuckets,
  });
  readonly #differences = this.#counter(
    "weir_gateway_shadow_differences_total",
    "Decisions that the shadow's policy would not have made.",
    ["difference"],
  );
  readonly #copies = this.#counter("weir_gateway_mirror_copies_total", "Requests mirrored, by what became of them.", ["outcome"]);
  readonly #copyTokens = this.#counter("weir_gateway_mirror_tokens_total", "Tokens of the answers to mirrored requests.", ["kind"]);

  constructor(serving: Serving) {
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge("weir_gateway_queued", "Requests that wait in the gateway.", ["model"], (gauge) => {
      for (const [model, count] of serving.queued) gauge.set({ model }, count);
    });
    this.#gauge("weir_gateway_in_flight", "Requests sent to an engine and not finished.", ["model", "replica"], (gauge) => {
      for (const { model, id: replica, inFlight } of serving.pool.all) gauge.set({ model, replica }, inFlight);
    });
    this.#gauge("weir_gateway_replica_accepting", "1 when an engine takes new work.", ["model", "replica"], (gauge) => {
      for (const { model, id: replica, accepting } of serving.pool.all) gauge.set({ model, replica }, accepting ? 1 : 0);
    });
    this.#gauge("weir_gateway_judge_resting", "1 while a failing judge is not asked.", ["model"], (gauge) => {
      const model = serving.config?.judge?.model;
      if (serving.judge && model !== undefined) gauge.set({ model }, serving.judge.resting ? 1 : 0);
    });
  }

  /** Requests turned away at the door so far. */
  get refused(): number {
    return this.#refusedCount;
  }

  /** Answers accepted without a judged score so far. */
  get unjudged(): number {
    return this.#unjudgedCount;
  }

  /** Counts a request turned away at the door; `served` null when it named nothing that is served. */
  recordRefused(served: string | null, status: number): void {
    this.#refusedCount += 1;
    this.#requests.inc({ served: served ?? unknownName, status: String(status) });
  }

  /** Counts a request that was taken in and is finished. */
  record(served: string, decision: Omit<Decision, "sequence">): void {
    this.#requests.inc({ served, status: String(decision.status) });
    if (decision.stages.length === 0) return;
    this.#duration.observe({ served }, decision.endToEndSeconds);
    this.#overhead.observe({ served }, decision.overheadSeconds);
    if (decision.ttftSeconds !== null) this.#ttft.observe({ served }, decision.ttftSeconds);
    for (const { model, verdict, queueSeconds, seconds, judgeSeconds, judgedScore } of decision.stages) {
      this.#answers.inc({ model, verdict });
      this.#queue.observe({ model }, queueSeconds);
      this.#stage.observe({ model }, seconds);
      if (judgeSeconds === null) continue;
      this.#judge.observe({ model }, judgeSeconds);
      if (judgedScore !== null || verdict !== "accepted") continue;
      this.#unjudgedCount += 1;
      this.#unjudged.inc({ model });
    }
  }

  /** Counts a decision about which the shadow's policy differs from the one that acts. */
  recordDifference(difference: "start" | "accepts" | "escalates"): void {
    this.#differences.inc({ difference });
  }

  /** Counts a request that the mirror picked. */
  recordCopy(outcome: "completed" | "skipped" | "failed"): void {
    this.#copies.inc({ outcome });
  }

  /** Counts what an engine's answer to a mirrored request took. */
  recordCopyTokens({ inputTokens, outputTokens }: Usage): void {
    this.#copyTokens.inc({ kind: "input" }, inputTokens ?? 0);
    this.#copyTokens.inc({ kind: "output" }, outputTokens ?? 0);
  }

  /** The text exposition and its content type. */
  async exposition(): Promise<{ readonly text: string; readonly contentType: string }> {
    return { text: await this.#registry.metrics(), contentType: this.#registry.contentType };
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram<L extends string>(
    name: string,
    help: string,
    { labels, buckets }: { readonly labels: readonly L[]; readonly buckets: number[] },
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames: labels, buckets, registers: [this.#registry] });
  }

  #gauge(name: string, help: string, labelNames: readonly string[], fill: (gauge: Gauge) => void): void {
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
}
