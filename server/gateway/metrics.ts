import { type Decision, type GatewayConfig, isUnjudged, type StageRecord } from "@/server/contracts/gatewayAdmin";
import type { CaptureOutcome } from "./capture";
import { clientGone } from "./endedError";
import type { EnsembleBook } from "./ensembleBook";
import { MetricRegistry } from "./metricRegistry";
import type { PredictionCounts } from "./predictionCounts";
import { RecentNames } from "./recentNames";
import { answerCost, scoreCost } from "./requestCost";
import type { Serving } from "./serving";
import type { Traces } from "./traces";
import type { Usage } from "./usage";

// vLLM's bucket edges (vllm/v1/metrics/loggers.py), so that quantiles of gateway and engines compare.
const ttftBuckets = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560];
const tokenBuckets = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const requestBuckets = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

/** Stands for a served name in the counts of requests that named none: what clients write never becomes a label. */
const unknownName = "unknown";
/** What requests go by in the place of a cascade. */
const stands = ["canary", "panic"];
/** Names of earlier configurations that keep their series: as many as an operator tries in a day. */
const formerNames = 8;
/** How the gateway ends a request itself, by the status it records. */
const ends: Readonly<Record<number, string>> = { [clientGone]: "client-gone", 408: "slow-body", 504: "deadline" };

type Finished = Omit<Decision, "sequence">;

interface MetricSources {
  readonly traces: Traces | null;
  readonly counts: PredictionCounts;
  readonly ensembles: EnsembleBook;
}

/** The gateway's Prometheus metrics. Label values come from the configuration and from fixed lists, never from requests. */
export class GatewayMetrics {
  #refusedCount = 0;
  #shedCount = 0;
  #unjudgedCount = 0;
  readonly #serving: Serving;
  /** The configuration whose names are known. */
  #config: GatewayConfig | null = null;
  /** Values of the labels that configurations name. */
  readonly #names = new Map(["served", "model", "key", "objective", "ensemble"].map((label) => [label, new RecentNames(formerNames)]));
  readonly #registry = new MetricRegistry();
  readonly #requests = this.#registry.counter("weir_gateway_requests_total", "Requests answered, by served name and status.", [
    "served",
    "status",
  ]);
  readonly #keys = this.#registry.counter("weir_gateway_key_requests_total", "Requests with an API key, turned away or not.", [
    "key",
    "status",
  ]);
  readonly #shed = this.#registry.counter("weir_gateway_shed_total", "Requests there was no room or no engine for, by class of work.", [
    "objective",
    "status",
  ]);
  readonly #ended = this.#registry.counter("weir_gateway_ended_total", "Requests the gateway ended, by why.", ["reason"]);
  readonly #answers = this.#registry.counter("weir_gateway_stage_answers_total", "What became of engines' answers, by model.", [
    "model",
    "verdict",
  ]);
  readonly #retries = this.#registry.counter("weir_gateway_retries_total", "Engine calls that failed and were made again, by why.", [
    "model",
    "reason",
  ]);
  readonly #skips = this.#registry.counter(
    "weir_gateway_stage_skips_total",
    "Requests for which a stage could not answer, by its model and why.",
    ["model", "cause"],
  );
  readonly #lower = this.#registry.counter(
    "weir_gateway_lower_stage_answers_total",
    "Answers of a smaller model than the one that was to answer, because no larger one that was left could.",
    ["model"],
  );
  readonly #tokens = this.#registry.counter("weir_gateway_tokens_total", "As engines counted them; direction: input or output.", [
    "model",
    "direction",
  ]);
  readonly #cost = this.#registry.counter("weir_gateway_cost_usd_total", "Of answers and of the judge's scores, by the settings' prices.", [
    "model",
  ]);
  readonly #unjudged = this.#registry.counter("weir_gateway_unjudged_answers_total", "Answers accepted because the judge gave no score.", [
    "model",
  ]);
  readonly #judgeFailures = this.#registry.counter("weir_gateway_judge_failures_total", "Answers the judge gave no score for, by why.", [
    "reason",
  ]);
  readonly #duration = this.#registry.histogram("weir_gateway_request_seconds", "End to end, in engine seconds.", {
    labels: ["served"],
    buckets: requestBuckets,
  });
  readonly #ttft = this.#registry.histogram(
    "weir_gateway_time_to_first_token_seconds",
    "To the first token sent to the client, in engine seconds.",
    { labels: ["served"], buckets: ttftBuckets },
  );
  readonly #tokenTime = this.#registry.histogram(
    "weir_gateway_time_per_output_token_seconds",
    "From the first token on, of streams whose engine counted its tokens; engine seconds.",
    { labels: ["model"], buckets: tokenBuckets },
  );
  readonly #overhead = this.#registry.histogram(
    "weir_gateway_overhead_seconds",
    "What the gateway itself took, without queues, engines and judge; engine seconds.",
    { labels: ["served"], buckets: overheadBuckets },
  );
  readonly #stage = this.#registry.histogram("weir_gateway_stage_seconds", "One engine call, in engine seconds.", {
    labels: ["model"],
    buckets: requestBuckets,
  });
  readonly #queue = this.#registry.histogram("weir_gateway_queue_seconds", "In the gateway's queue of the model, in engine seconds.", {
    labels: ["model"],
    buckets: ttftBuckets,
  });
  readonly #judge = this.#registry.histogram("weir_gateway_judge_seconds", "One judge call, in engine seconds.", {
    labels: ["model"],
    buckets: ttftBuckets,
  });
  readonly #differences = this.#registry.counter(
    "weir_gateway_shadow_differences_total",
    "Decisions that the shadow's policy would not have made.",
    ["difference"],
  );
  readonly #copies = this.#registry.counter("weir_gateway_mirror_copies_total", "Requests mirrored, by what became of them.", ["outcome"]);
  readonly #copyTokens = this.#registry.counter("weir_gateway_mirror_tokens_total", "Tokens of the answers to mirrored requests.", [
    "direction",
  ]);
  readonly #captured = this.#registry.counter("weir_gateway_captured_prompts_total", "Prompts to be kept, by what became of them.", [
    "outcome",
  ]);

  constructor(serving: Serving, { traces, counts, ensembles }: MetricSources) {
    this.#serving = serving;
    const registry = this.#registry;
    counts.register(registry);
    ensembles.register(registry);
    serving.workflows.register(registry);
    serving.rounds.register(registry);
    registry.gauge("weir_gateway_info", "1 for the plan and the policy in force.", ["plan", "policy"], (gauge) => {
      const { config } = serving;
      if (config !== null) gauge.set({ plan: config.planId, policy: config.policyHash }, 1);
    });
    registry.gauge("weir_gateway_queued", "Requests that wait in the gateway.", ["model"], (gauge) => {
      for (const [model, count] of serving.queued) gauge.set({ model }, count);
    });
    registry.gauge("weir_gateway_in_flight", "Requests sent to an engine and not finished.", ["model", "replica"], (gauge) => {
      for (const { model, id: replica, inFlight } of serving.pool.all) gauge.set({ model, replica }, inFlight);
    });
    registry.gauge("weir_gateway_replica_accepting", "1 when an engine takes new work.", ["model", "replica"], (gauge) => {
      for (const { model, id: replica, accepting } of serving.pool.all) gauge.set({ model, replica }, accepting ? 1 : 0);
    });
    registry.gauge("weir_gateway_stage_lost", "1 while no engine of a stage of the cascade takes work.", ["model"], (gauge) => {
      for (const model of serving.cascade?.models ?? []) gauge.set({ model }, serving.pool.isLost(model) ? 1 : 0);
    });
    registry.gauge("weir_gateway_judge_resting", "1 while a failing judge is not asked.", ["model"], (gauge) => {
      const model = serving.config?.judge?.model;
      if (serving.judge && model !== undefined) gauge.set({ model }, serving.judge.resting ? 1 : 0);
    });
    if (traces === null) return;
    const help = "Spans of traces, by outcome: exported, failed (the receiver did not take them), dropped (there was no room).";
    registry.counter("weir_gateway_spans_total", help, ["outcome"], traces.spans);
  }

  /** Requests turned away at the door so far. */
  get refused(): number {
    return this.#refusedCount;
  }

  /** Those of them there was no room or no engine for. */
  get shed(): number {
    return this.#shedCount;
  }

  /** Answers accepted without a judged score so far. */
  get unjudged(): number {
    return this.#unjudgedCount;
  }

  /** Counts a request turned away at the door; `served` null when it named nothing that is served. */
  recordRefused(served: string | null, status: number, key: string | null): void {
    this.#follow();
    this.#refusedCount += 1;
    this.#requests.inc({ served: served ?? unknownName, status });
    if (key !== null) this.#keys.inc({ key, status });
    const end = ends[status];
    if (end !== undefined) this.#ended.inc({ reason: end });
  }

  /** Counts by its class a request that was turned away for want of room or of an engine. */
  recordShed({ objective, status }: Finished): void {
    this.#shedCount += 1;
    const known = this.#config?.settings?.objectives?.some(({ name }) => name === objective);
    this.#shed.inc({ objective: objective === undefined ? "none" : known ? objective : "other", status });
  }

  /** Counts a request that was taken in and is finished. */
  record(served: string, decision: Finished): void {
    this.#follow();
    const { status, key, reason, stages } = decision;
    this.#requests.inc({ served, status });
    if (key !== undefined) this.#keys.inc({ key, status });
    const end = reason === "" ? undefined : ends[status];
    if (end !== undefined) this.#ended.inc({ reason: end });
    for (const { model, cause } of decision.skipped ?? []) this.#skips.inc({ model, cause });
    if (stages.length === 0) return;
    const last = stages.at(-1);
    if (status === 200 && last !== undefined && decision.degraded?.includes("lower-stage")) this.#lower.inc({ model: last.model });
    this.#duration.observe({ served }, decision.endToEndSeconds);
    this.#overhead.observe({ served }, decision.overheadSeconds);
    if (decision.ttftSeconds !== null) this.#ttft.observe({ served }, decision.ttftSeconds);
    for (const [index, stage] of stages.entries()) {
      this.#recordStage(stage);
      if (stage.verdict === "failed" && index < stages.length - 1)
        this.#retries.inc({ model: stage.model, reason: stage.failure ?? "other" });
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
    this.#copyTokens.inc({ direction: "input" }, inputTokens ?? 0);
    this.#copyTokens.inc({ direction: "output" }, outputTokens ?? 0);
  }

  /** Counts a prompt that a capture was to keep. */
  recordCapture(outcome: CaptureOutcome): void {
    this.#captured.inc({ outcome });
  }

  /** The text exposition and its content type. */
  exposition(): Promise<{ readonly text: string; readonly contentType: string }> {
    return this.#registry.exposition();
  }

  #recordStage(stage: StageRecord): void {
    const { model, verdict, queueSeconds, seconds, inputTokens, outputTokens, at, judgeSeconds, judgedScore, unscored } = stage;
    this.#answers.inc({ model, verdict });
    this.#queue.observe({ model }, queueSeconds);
    this.#stage.observe({ model }, seconds);
    if (inputTokens !== null) this.#tokens.inc({ model, direction: "input" }, inputTokens);
    if (outputTokens !== null) this.#tokens.inc({ model, direction: "output" }, outputTokens);
    if (at?.firstToken !== undefined && outputTokens !== null && outputTokens > 1)
      this.#tokenTime.observe({ model }, (at.answered - at.firstToken) / (outputTokens - 1));
    const config = this.#config;
    const usd = config === null || verdict === "failed" ? null : answerCost(model, { inputTokens, outputTokens }, config);
    if (usd !== null) this.#cost.inc({ model }, usd);
    if (judgeSeconds === null) return;
    this.#judge.observe({ model }, judgeSeconds);
    if (judgedScore !== null) {
      if (config?.judge) this.#cost.inc({ model: config.judge.model }, scoreCost(config));
      return;
    }
    if (unscored !== undefined) this.#judgeFailures.inc({ reason: unscored });
    if (!isUnjudged(stage)) return;
    this.#unjudgedCount += 1;
    this.#unjudged.inc({ model });
  }

  /** Learns the names of a configuration that is new; series of names long gone are taken out, so that many plans leave no trail. */
  #follow(): void {
    const { config, names } = this.#serving;
    if (config === null || config === this.#config) return;
    this.#config = config;
    const { keys = [], objectives = [] } = config.settings ?? {};
    const models = config.replicas.map(({ model }) => model);
    this.#names.get("served")?.use([unknownName, ...stands, ...names]);
    this.#names.get("ensemble")?.use(this.#serving.ensembles.map(({ name }) => name));
    this.#names.get("model")?.use(config.judge ? [...models, config.judge.model] : models);
    this.#names.get("key")?.use(keys.map(({ name }) => name));
    this.#names.get("objective")?.use(["none", "other", ...objectives.map(({ name }) => name)]);
    void this.#registry.forget((label, value) => this.#names.get(label)?.has(value) === false);
  }
}
