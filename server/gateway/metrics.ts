import {
  type AbortKind,
  type Decision,
  type GateCall,
  type GateRecord,
  type GatewayConfig,
  isGateCause,
  type StageRecord,
} from "@/server/contracts/gateway/gatewayAdmin";
import type { KeyLabels } from "@/server/contracts/gateway/gatewayKeys";
import { isScoredByJudge, isUnjudged } from "@/solver/gates/gates";
import type { PolicyReason } from "@/solver/policies/core/policy";
import type { HostedAccounts } from "./budgets/hostedAccounts";
import type { KeyBudgets } from "./budgets/keyBudgets";
import type { CaptureOutcome } from "./capture/capture";
import type { EnsembleStats } from "./ensembles/ensembleStats";
import { GenAiMetrics } from "./genAiMetrics";
import { clientGone } from "./http/abortError";
import type { Usage } from "./http/usage";
import { secondsPerOutputToken } from "./lib/genAi";
import { MetricRegistry } from "./lib/metricRegistry";
import { RecentNames } from "./lib/recentNames";
import type { PredictionCounts } from "./prediction/predictionCounts";
import type { Traces } from "./request/traces";
import { answerCost, type Charge, chargedCall, chargedUsd, scoreCost } from "./serving/requestCost";
import type { Serving } from "./serving/serving";
import type { ValkeyLink } from "./shared/valkeyLink";

// vLLM's bucket edges (vllm/v1/metrics/loggers.py), so that quantiles of gateway and engines are comparable.
const ttftBuckets = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560];
const tokenBuckets = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const requestBuckets = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

/** The served name for requests that named none: a client's text never becomes a label. */
const unknownName = "unknown";
/** Served names of policies that replace the cascade. */
const stands = ["canary", "panic"];
/** Names of earlier configurations that keep their series: as many as an operator tries in a day. */
const formerNames = 8;
/** Labels whose values configurations name. */
const labelsOfNames = [
  "served",
  "model",
  "key",
  "objective",
  "ensemble",
  "team",
  "project",
  "gen_ai_request_model",
  "gen_ai_response_model",
];
/** Pairs of a team and a project with series of their own. */
const mostOwners = 100;
const ownerId = ({ team, project }: { readonly team: string; readonly project: string }): string => `${team}\0${project}`;
/** Abort kind of a request without a policy, by the status of its refusal. */
const refusedAborts: Readonly<Partial<Record<number, AbortKind>>> = { [clientGone]: "client-gone", 408: "slow-body", 504: "deadline" };

const keptByGrace: PolicyReason = "score-at-or-above-lowered-threshold";

/** Seconds are engine seconds. */
const table = {
  requests: ["weir_gateway_requests_total", "Requests answered, by served name and status.", ["served", "status"]],
  keys: ["weir_gateway_key_requests_total", "Requests with an API key, refused or not.", ["key", "status"]],
  keyTokens: [
    "weir_gateway_key_tokens_total",
    "Tokens of all answers to requests with an API key; direction: input or output.",
    ["key", "direction"],
  ],
  keyCost: ["weir_gateway_key_cost_usd_total", "Cost of requests with an API key, as their records have it.", ["key"]],
  teamTokens: [
    "weir_gateway_team_tokens_total",
    "Tokens of all answers, by the labels of the API key; of further teams than the first hundred: other.",
    ["team", "project", "direction"],
  ],
  teamCost: ["weir_gateway_team_cost_usd_total", "Cost of requests, by the labels of the API key, likewise.", ["team", "project"]],
  shed: [
    "weir_gateway_shed_total",
    "Requests shed because no queue had room or no engine was available, by class of work.",
    ["objective", "status"],
  ],
  aborted: ["weir_gateway_aborted_total", "Requests that the gateway aborted, by reason.", ["reason"]],
  answers: ["weir_gateway_stage_answers_total", "Answers of engines, by model and verdict.", ["model", "verdict"]],
  retries: ["weir_gateway_retries_total", "Engine calls that failed and were retried, by reason.", ["model", "reason"]],
  skips: [
    "weir_gateway_stage_skips_total",
    "Requests that skipped a stage because it could not answer, by its model and cause.",
    ["model", "cause"],
  ],
  lower: [
    "weir_gateway_lower_stage_answers_total",
    "Answers of a smaller model than the policy chose, because no larger one could answer.",
    ["model"],
  ],
  tokens: ["weir_gateway_tokens_total", "Tokens as engines count them; direction: input or output.", ["model", "direction"]],
  cached: [
    "weir_gateway_cached_tokens_total",
    "Prompt tokens that engines found in their prefix caches, as far as their answers say.",
    ["model"],
  ],
  cost: [
    "weir_gateway_cost_usd_total",
    "Cost of answers and judge scores at the configured prices; of a further answer that was cancelled, that of its prompt.",
    ["model"],
  ],
  unjudged: ["weir_gateway_unjudged_answers_total", "Answers accepted although their gate gave no score.", ["model"]],
  graced: [
    "weir_gateway_grace_answers_total",
    "Answers on which a threshold decided that overload had lowered, by the stage's model; outcome: kept (the plan's would have escalated it), or same.",
    ["model", "outcome"],
  ],
  judgeFailures: ["weir_gateway_judge_failures_total", "Answers without a judge score, by reason.", ["reason"]],
  gateReadings: [
    "weir_gateway_gate_readings_total",
    "Answers that a gate read, by the stage's model, the gate's kind, and scored or the reason why not.",
    ["model", "gate", "outcome"],
  ],
  gateCalls: ["weir_gateway_gate_calls_total", "Further answers that gates compared with, by model and outcome.", ["model", "outcome"]],
  gateTokens: [
    "weir_gateway_gate_tokens_total",
    "Tokens of those answers as engines count them; direction: input or output.",
    ["model", "direction"],
  ],
  gate: ["weir_gateway_gate_seconds", "From an answer to its gate's score, in engine seconds.", ["model", "gate"], ttftBuckets],
  duration: ["weir_gateway_request_seconds", "Time of a request end to end, in engine seconds.", ["served"], requestBuckets],
  ttft: [
    "weir_gateway_time_to_first_token_seconds",
    "Time to the first token sent to the client, in engine seconds.",
    ["served"],
    ttftBuckets,
  ],
  tokenTime: [
    "weir_gateway_time_per_output_token_seconds",
    "Time per output token after the first, for streams whose engine counts tokens; engine seconds.",
    ["model"],
    tokenBuckets,
  ],
  overhead: [
    "weir_gateway_overhead_seconds",
    "Time in the gateway itself, without queues, engines and judge; engine seconds.",
    ["served"],
    overheadBuckets,
  ],
  stage: ["weir_gateway_stage_seconds", "One engine call, in engine seconds.", ["model"], requestBuckets],
  queue: ["weir_gateway_queue_seconds", "Wait in the gateway's queue of the model, in engine seconds.", ["model"], ttftBuckets],
  judge: ["weir_gateway_judge_seconds", "One judge call, in engine seconds.", ["model"], ttftBuckets],
  differences: ["weir_gateway_shadow_differences_total", "Decisions on which the shadow's policy differs.", ["difference"]],
  copies: ["weir_gateway_mirror_copies_total", "Mirrored requests, by outcome.", ["outcome"]],
  copyTokens: ["weir_gateway_mirror_tokens_total", "Tokens of the answers to mirrored requests.", ["direction"]],
  captured: ["weir_gateway_captured_prompts_total", "Prompts offered to a capture, by outcome.", ["outcome"]],
} as const;

type Finished = Omit<Decision, "sequence">;

interface MetricSources {
  readonly traces: Traces | null;
  readonly counts: PredictionCounts;
  readonly ensembles: EnsembleStats;
  readonly budgets: KeyBudgets;
  readonly link: ValkeyLink | null;
  readonly hosted: HostedAccounts;
}

/** The gateway's Prometheus metrics. Label values come from the configuration and from fixed lists, never from requests. */
export class GatewayMetrics {
  #refusedCount = 0;
  #shedCount = 0;
  #unjudgedCount = 0;
  readonly #serving: Serving;
  /** The configuration whose names are known. */
  #config: GatewayConfig | null = null;
  /** The values of those labels that are in use. */
  readonly #names = new Map(labelsOfNames.map((label) => [label, new RecentNames(formerNames)]));
  /** Pairs of a team and a project that have series of their own. */
  #owners: ReadonlySet<string> = new Set();
  readonly #registry = new MetricRegistry();
  readonly #metrics = this.#registry.table(table);
  readonly #genAi = new GenAiMetrics(this.#registry);

  constructor(serving: Serving, { traces, counts, ensembles, budgets, link, hosted }: MetricSources) {
    this.#serving = serving;
    const registry = this.#registry;
    counts.register(registry);
    ensembles.register(registry);
    budgets.register(registry);
    link?.register(registry);
    hosted.register(registry);
    serving.workflows.register(registry);
    serving.rounds.register(registry);
    registry.gauge("weir_gateway_info", "1 for the plan and the policy in force.", ["plan", "policy"], (gauge) => {
      const { config } = serving;
      if (config !== null) gauge.set({ plan: config.planId, policy: config.policyHash }, 1);
    });
    registry.gauge("weir_gateway_queued", "Requests waiting in the gateway.", ["model"], (gauge) => {
      for (const [model, count] of serving.queued) gauge.set({ model }, count);
    });
    registry.gauge("weir_gateway_in_flight", "Requests in flight at an engine.", ["model", "replica"], (gauge) => {
      for (const { model, id: replica, inFlight } of serving.pool.all) gauge.set({ model, replica }, inFlight);
    });
    registry.gauge("weir_gateway_replica_accepting", "1 when an engine takes new work.", ["model", "replica"], (gauge) => {
      for (const { model, id: replica, accepting } of serving.pool.all) gauge.set({ model, replica }, accepting ? 1 : 0);
    });
    registry.gauge("weir_gateway_stage_lost", "1 while no engine of a stage of the cascade takes work.", ["model"], (gauge) => {
      for (const model of serving.cascade?.models ?? []) gauge.set({ model }, serving.pool.isLost(model) ? 1 : 0);
    });
    registry.gauge("weir_gateway_grace_points", "Points by which overload lowers the threshold of a stage.", ["model"], (gauge) => {
      const { cascade } = serving;
      if (cascade?.driver.policy.grace === undefined) return;
      for (const stage of cascade.thresholds.keys()) gauge.set({ model: cascade.driver.policy.modelOfStage(stage) }, 0);
      for (const { model, planned, inForce } of cascade.driver.grace()) gauge.set({ model }, planned - inForce);
    });
    registry.gauge(
      "weir_gateway_judge_circuit_open",
      "1 while the circuit breaker of the judge is open: it failed and is not asked.",
      ["model"],
      (gauge) => {
        const model = serving.config?.judge?.model;
        if (serving.judge && model !== undefined) gauge.set({ model }, serving.judge.isPaused ? 1 : 0);
      },
    );
    registry.gauge(
      "weir_gateway_gate_unscored_in_a_row",
      "Latest answers in a row that the gate of a stage could not score, from five on.",
      ["model", "cause"],
      (gauge) => {
        for (const { model, cause, answers } of serving.gateWatch.reported) gauge.set({ model, cause }, answers);
      },
    );
    if (traces === null) return;
    const help = "Trace spans, by outcome: exported, failed (rejected by the receiver) or dropped (no room).";
    registry.counter("weir_gateway_spans_total", help, ["outcome"], traces.spans);
  }

  /** Requests that were not admitted so far. */
  get refused(): number {
    return this.#refusedCount;
  }

  /** The shed requests among them. */
  get shed(): number {
    return this.#shedCount;
  }

  /** Answers accepted without a judged score so far. */
  get unjudged(): number {
    return this.#unjudgedCount;
  }

  /** Counts a request that was not admitted; `served` is null if it named no served model. */
  recordRefused(served: string | null, status: number, key: string | null): void {
    this.#follow();
    this.#refusedCount += 1;
    this.#metrics.requests.inc({ served: served ?? unknownName, status });
    if (key !== null) this.#metrics.keys.inc({ key, status });
    const aborted = refusedAborts[status];
    if (aborted !== undefined) this.#metrics.aborted.inc({ reason: aborted });
  }

  /** Counts a shed request of a served name by its class. */
  recordShed(served: string, decision: Finished): void {
    const { objective, status } = decision;
    this.#shedCount += 1;
    this.#genAi.record(served, decision, null);
    const known = this.#config?.settings?.priorityClasses?.some(({ name }) => name === objective);
    this.#metrics.shed.inc({ objective: objective === undefined ? "none" : known ? objective : "other", status });
  }

  /** Counts an admitted request that is finished. */
  record(served: string, decision: Finished): void {
    this.#follow();
    const { status, key, aborted, stages } = decision;
    this.#metrics.requests.inc({ served, status });
    if (key !== undefined) this.#metrics.keys.inc({ key, status });
    if (aborted !== undefined && aborted !== "shutting-down") this.#metrics.aborted.inc({ reason: aborted });
    for (const { model, cause } of decision.skipped ?? []) this.#metrics.skips.inc({ model, cause });
    this.#genAi.record(served, decision, this.#config?.judge?.model ?? null);
    if (stages.length === 0) return;
    const last = stages.at(-1);
    if (status === 200 && last !== undefined && decision.degraded?.includes("lower-stage")) this.#metrics.lower.inc({ model: last.model });
    this.#metrics.duration.observe({ served }, decision.endToEndSeconds);
    this.#metrics.overhead.observe({ served }, decision.overheadSeconds);
    if (decision.ttftSeconds !== null) this.#metrics.ttft.observe({ served }, decision.ttftSeconds);
    for (const [index, stage] of stages.entries()) {
      this.#recordStage(stage, decision.inputTokens ?? 0);
      if (stage.verdict === "failed" && index < stages.length - 1)
        this.#metrics.retries.inc({ model: stage.model, reason: stage.failure ?? "other" });
    }
  }

  /** Counts what a finished request used, by its key and the labels of that. */
  recordKeyUse({ key, labels }: Finished, charges: readonly Charge[]): void {
    if (key === undefined) return;
    const owner = this.#ownerOf(labels);
    for (const { inputTokens, outputTokens } of charges) {
      for (const [direction, count] of [
        ["input", inputTokens],
        ["output", outputTokens],
      ] as const) {
        if (count === null) continue;
        this.#metrics.keyTokens.inc({ key, direction }, count);
        if (owner !== null) this.#metrics.teamTokens.inc({ ...owner, direction }, count);
      }
    }
    const usd = chargedUsd(charges);
    if (usd === null) return;
    this.#metrics.keyCost.inc({ key }, usd);
    if (owner !== null) this.#metrics.teamCost.inc(owner, usd);
  }

  /** The values of the labels of a key; null without labels. */
  #ownerOf(labels: KeyLabels | undefined): { readonly team: string; readonly project: string } | null {
    if (labels === undefined) return null;
    const { team = "none", project = "none" } = labels;
    return this.#owners.has(ownerId({ team, project })) ? { team, project } : { team: "other", project: "other" };
  }

  /** Counts a decision on which the shadow's policy differs from the acting one. */
  recordDifference(difference: "start" | "accepts" | "escalates"): void {
    this.#metrics.differences.inc({ difference });
  }

  /** Counts a request that the mirror picked. */
  recordCopy(outcome: "completed" | "skipped" | "failed"): void {
    this.#metrics.copies.inc({ outcome });
  }

  /** Counts the tokens of an engine's answer to a mirrored request. */
  recordCopyTokens({ inputTokens, outputTokens }: Usage): void {
    this.#metrics.copyTokens.inc({ direction: "input" }, inputTokens ?? 0);
    this.#metrics.copyTokens.inc({ direction: "output" }, outputTokens ?? 0);
  }

  /** Counts a prompt by the outcome of its capture. */
  recordCapture(outcome: CaptureOutcome): void {
    this.#metrics.captured.inc({ outcome });
  }

  /** The text exposition and its content type. */
  exposition(): Promise<{ readonly text: string; readonly contentType: string }> {
    return this.#registry.exposition();
  }

  /** @param promptTokens of its request, as the gateway estimates them. */
  #recordStage(stage: StageRecord, promptTokens: number): void {
    const { model, verdict, queueSeconds, seconds, inputTokens, outputTokens, cachedTokens } = stage;
    const { judgeSeconds, judgedScore, unscored, gate, unusedCalls } = stage;
    this.#metrics.answers.inc({ model, verdict });
    this.#metrics.queue.observe({ model }, queueSeconds);
    this.#metrics.stage.observe({ model }, seconds);
    if (inputTokens !== null) this.#metrics.tokens.inc({ model, direction: "input" }, inputTokens);
    if (outputTokens !== null) this.#metrics.tokens.inc({ model, direction: "output" }, outputTokens);
    if (cachedTokens !== undefined) this.#metrics.cached.inc({ model }, cachedTokens);
    const perToken = secondsPerOutputToken(stage);
    if (perToken !== null) this.#metrics.tokenTime.observe({ model }, perToken);
    const config = this.#config;
    const usd = config === null || verdict === "failed" ? null : answerCost(model, { inputTokens, outputTokens }, config);
    if (usd !== null) this.#metrics.cost.inc({ model }, usd);
    if (gate !== undefined) this.#recordGate(model, gate, judgedScore === null ? (unscored ?? "aborted") : "scored");
    this.#recordCalls([...(gate?.calls ?? []), ...(unusedCalls ?? [])], inputTokens ?? promptTokens);
    if (judgeSeconds !== null) this.#metrics.judge.observe({ model }, judgeSeconds);
    if (config?.judge && isScoredByJudge(stage)) this.#metrics.cost.inc({ model: config.judge.model }, scoreCost(config));
    if (judgeSeconds !== null && unscored !== undefined && !isGateCause(unscored)) this.#metrics.judgeFailures.inc({ reason: unscored });
    if (stage.plannedThreshold !== undefined) this.#metrics.graced.inc({ model, outcome: stage.reason === keptByGrace ? "kept" : "same" });
    if (!isUnjudged(stage)) return;
    this.#unjudgedCount += 1;
    this.#metrics.unjudged.inc({ model });
  }

  #recordGate(model: string, { kind: gate, seconds }: GateRecord, outcome: string): void {
    this.#metrics.gateReadings.inc({ model, gate, outcome });
    this.#metrics.gate.observe({ model, gate }, seconds);
  }

  /** Counts further answers that gates asked for. */
  #recordCalls(calls: readonly GateCall[], promptTokens: number): void {
    for (const call of calls) {
      this.#metrics.gateCalls.inc({ model: call.model, outcome: call.outcome });
      if (call.outcome === "answered") {
        this.#metrics.gateTokens.inc({ model: call.model, direction: "input" }, call.inputTokens ?? 0);
        this.#metrics.gateTokens.inc({ model: call.model, direction: "output" }, call.outputTokens ?? 0);
      }
      const charged = chargedCall(call, promptTokens);
      const usd = this.#config === null || charged === null ? null : answerCost(call.model, charged, this.#config);
      if (usd !== null) this.#metrics.cost.inc({ model: call.model }, usd);
    }
  }

  /**
   * Learns the names of a new configuration; removes series of names that went out of use long ago, so that the number of series stays
   * bounded over many plans.
   */
  #follow(): void {
    const { config } = this.#serving;
    if (config === null || config === this.#config) return;
    this.#config = config;
    const { priorityClasses = [] } = config.settings ?? {};
    // Those of the environment as well, which are in force while the settings name none.
    const { keys } = this.#serving.callers;
    const replicaModels = config.replicas.map(({ model }) => model);
    const models = config.judge ? [...replicaModels, config.judge.model] : replicaModels;
    const served = [unknownName, ...stands, ...this.#serving.names];
    this.#names.get("served")?.use(served);
    this.#names.get("gen_ai_request_model")?.use([...served, ...models]);
    this.#names.get("gen_ai_response_model")?.use(models);
    this.#names.get("ensemble")?.use(this.#serving.ensembles.map(({ name }) => name));
    this.#names.get("model")?.use(models);
    this.#names.get("key")?.use(keys.map(({ name }) => name));
    const owners = keys.flatMap(({ labels }) =>
      labels === undefined ? [] : [{ team: labels.team ?? "none", project: labels.project ?? "none" }],
    );
    this.#owners = new Set([...new Set(owners.map(ownerId))].slice(0, mostOwners));
    this.#names.get("team")?.use(["other", ...owners.map(({ team }) => team)]);
    this.#names.get("project")?.use(["other", ...owners.map(({ project }) => project)]);
    this.#names.get("objective")?.use(["none", "other", ...priorityClasses.map(({ name }) => name)]);
    this.#registry.forget((label, value) => this.#names.get(label)?.has(value) === false);
  }
}
