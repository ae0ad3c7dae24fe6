import type { OutgoingHttpHeaders } from "node:http";
import { gainRecordOf } from "@/server/contracts/gateway/gainRecord";
import type { AbortKind, Decision, GatewayConfig, SkipCause, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { GainDecision } from "@/solver/nextModel/nextModel";
import type { GraceThreshold, PolicyReason, WaitingWork } from "@/solver/policies/core/policy";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { Caller } from "../http/callers";
import { shownName } from "../http/clientNames";
import type { ModelRequest, PromptEnd } from "../http/modelRequest";
import type { PolicyPrediction } from "../prediction/requestPredictions";
import { chargedUsd, requestCharges } from "../serving/requestCost";
import { candidatesAt, type ServedModel, stageNumber } from "../serving/servedModel";
import type { FollowedCall } from "../workflows/followedCall";
import { base64Of, noteChoice, recordedPrediction } from "./recordedInputs";
import { type Attempt, type Finding, stageRecordOf } from "./stageRecords";

interface JournalStart {
  readonly asked: ModelRequest;
  readonly caller: Caller;
  readonly startedMs: number;
  /** The end of the prompt, if the settings ask for it. */
  readonly prompt: PromptEnd | null;
}

/** Changes of a waiting request's forecast that its record keeps: those of some minutes. */
const MOST_REFORECASTS = 128;

const isSameForecast = (one: AgentForecast | undefined, other: AgentForecast | undefined): boolean =>
  one?.distanceSeconds === other?.distanceSeconds &&
  one?.remainingCalls === other?.remainingCalls &&
  one?.requestSeconds === other?.requestSeconds &&
  one?.tokensPerSecond === other?.tokensPerSecond;

type Degradation = NonNullable<Decision["degraded"]>[number];

interface AnsweredBy {
  /** 0 for the first. */
  readonly stage: number;
  readonly model: string;
  /** The time so far of the engine that is still streaming. */
  readonly pendingMs: number;
}

/** The position of the request in its policy. */
interface Position {
  readonly served: ServedModel;
  /** Why a stage could not answer it. */
  skipCause(stage: number): SkipCause;
}

type Skipped = NonNullable<Decision["skipped"]>[number];

interface PassedOver {
  readonly skipped?: readonly number[] | undefined;
  readonly reason: PolicyReason;
}

/** Collects the events of one request, for its response headers and its decision record. */
export class RequestJournal {
  readonly #start: JournalStart;
  readonly #stages: StageRecord[] = [];
  readonly #degraded: Degradation[] = [];
  /** Lowered thresholds that decided on its answers, in the order of these. */
  readonly #graced: GraceThreshold[] = [];
  readonly #skipped: Skipped[] = [];
  /** Wall milliseconds outside the gateway: queues, engines, gates with their judge. */
  queueMs = 0;
  engineMs = 0;
  judgeMs = 0;
  escalations = 0;
  judgedScore: number | null = null;
  firstTokenMs: number | null = null;
  /** The stage at which the request started; null before. */
  startStage: number | null = null;
  /** Why the request started at its first stage; null before. */
  startReason: string | null = null;
  /** The terms of that choice; undefined if the policy does not choose by expected gain. */
  startGain: GainDecision | undefined;
  /** The predictions that its policy read; null if it reads none. */
  policyPrediction: PolicyPrediction | null = null;
  /** When the search for its accurate configurations ended, in engine seconds; null: before it waited, or none was made. */
  searchedSeconds: number | null = null;
  /** The expected lengths at the stage it entered last. */
  expected: Pick<WaitingWork, "predictedTokens" | "predictedProgramTokens"> = {};
  /** Hashes of its prompt's blocks, as its policy read them; undefined if it read none. */
  promptBlocks: Uint32Array | undefined;
  /** Its call in the workflow tracker; null if it is not followed. */
  call: FollowedCall | null = null;
  /** The forecast at that stage; undefined if the policy does not read it or nothing is learned yet. */
  #forecast: AgentForecast | undefined;
  /** The forecasts that replaced it. */
  #reforecasts: NonNullable<Decision["reforecasts"]> = [];
  /** Why the gateway aborted it; null if it did not. */
  aborted: AbortKind | null = null;
  /** The gateway's own error; empty if an engine's answer was passed on. */
  reason = "";

  constructor(start: JournalStart) {
    this.#start = start;
  }

  /** Whether no engine was called yet. */
  get isUncalled(): boolean {
    return this.#stages.length === 0;
  }

  /** When its client needs the answer, on an engines' clock so many times as fast as the wall's; undefined if it does not say. */
  dueSeconds(timeScale: number): number | undefined {
    const { asked, startedMs } = this.#start;
    return asked.deadlineSeconds === null ? undefined : (startedMs / 1000 + asked.deadlineSeconds) * timeScale;
  }

  /** Notes the forecast with which it enters a stage. */
  startForecast(forecast: AgentForecast | undefined): void {
    this.#forecast = forecast;
    this.#reforecasts = [];
  }

  /** Notes a forecast that replaces the one before, in engine seconds; the oldest are dropped beyond a bound. */
  changeForecast(at: number, forecast: AgentForecast | undefined): void {
    if (isSameForecast(forecast, this.#reforecasts.length === 0 ? this.#forecast : this.#reforecasts.at(-1)?.forecast)) return;
    this.#reforecasts.push(forecast === undefined ? { at } : { at, forecast });
    if (this.#reforecasts.length > MOST_REFORECASTS) this.#reforecasts.shift();
  }

  /** Notes a degradation that changed the outcome. */
  degrade(what: Degradation): void {
    if (!this.#degraded.includes(what)) this.#degraded.push(what);
  }

  /** Notes a threshold that overload had lowered when it decided. */
  graced(threshold: GraceThreshold): void {
    this.#graced.push(threshold);
  }

  /** Notes the stages that were skipped because they cannot answer. */
  passOver(progress: Position, { skipped = [], reason }: PassedOver): void {
    if (skipped.length === 0) return;
    for (const stage of skipped) {
      const model = progress.served.driver.policy.modelOfStage(stage);
      const cause = progress.skipCause(stage);
      const known = this.#skipped.findIndex((one) => one.model === model);
      if (known < 0) this.#skipped.push({ model, cause });
      else this.#skipped[known] = { model, cause };
    }
    // A request whose data stays in the house has the stages of the house.
    const isDegraded = skipped.some((stage) => progress.skipCause(stage) !== "data-stays");
    if (isDegraded) this.degrade(reason === "lower-stage" ? "lower-stage" : "stage");
  }

  /** Notes that the client got a kept answer, which had been escalated. It becomes the last stage of the record. */
  acceptKept(model: string, reason: string): void {
    const at = this.#stages.findLastIndex((stage) => stage.model === model && stage.verdict === "escalated");
    const [kept] = at < 0 ? [] : this.#stages.splice(at, 1);
    if (kept === undefined) return;
    const { detail: _, ...found } = kept;
    this.#stages.push({ ...found, verdict: "accepted", reason });
  }

  /** Notes one engine call and its outcome. */
  note(served: ServedModel, attempt: Attempt, finding: Finding): void {
    this.#stages.push(stageRecordOf(served, attempt, finding));
  }

  /**
   * The decision headers for an answer, as far as known when the headers are sent; `x-weir-stage` counts from 1. Milliseconds are engine
   * milliseconds; the overhead is the gateway's own time so far.
   */
  headers(served: ServedModel, { stage, model, pendingMs }: AnsweredBy): OutgoingHttpHeaders {
    const { asked, startedMs } = this.#start;
    const overheadMs = Math.max(0, performance.now() - startedMs - this.queueMs - this.engineMs - this.judgeMs - pendingMs);
    const headers: OutgoingHttpHeaders = {
      "x-request-id": asked.requestId,
      "x-weir-model": model,
      "x-weir-policy": served.policyHash,
      "x-weir-stage": stageNumber(served, stage),
      "x-weir-escalations": this.escalations,
      "x-weir-queue-ms": (this.queueMs * served.timeScale).toFixed(2),
      "x-weir-overhead-ms": (overheadMs * served.timeScale).toFixed(2),
      "x-weir-decision-id": asked.decisionId,
    };
    if (served.planId !== "") headers["x-weir-plan"] = served.planId;
    if (this.judgedScore !== null) headers["x-weir-judge-score"] = this.judgedScore;
    if (this.#degraded.length > 0) headers["x-weir-degraded"] = this.#degraded.join(",");
    if (this.#skipped.length > 0) headers["x-weir-skipped"] = this.#skipped.map(({ model }) => model).join(",");
    const hosted = this.#skipped.filter(({ cause }) => cause === "budget" || cause === "data-stays");
    if (hosted.length > 0) headers["x-weir-hosted-skipped"] = hosted.map(({ model: skipped, cause }) => `${skipped}=${cause}`).join(",");
    if (this.#graced.length > 0) headers["x-weir-grace"] = this.#graced.map(({ planned, inForce }) => `${planned}->${inForce}`).join(",");
    return headers;
  }

  /** The record of the finished request, costed by the prices of the configuration in force. */
  decision(served: ServedModel, status: number, config: GatewayConfig | null): Omit<Decision, "sequence"> {
    const { asked, caller, startedMs, prompt } = this.#start;
    const endToEndMs = performance.now() - startedMs;
    const overheadMs = Math.max(0, endToEndMs - this.queueMs - this.engineMs - this.judgeMs);
    // Of the candidates only: anything else that a client writes there is not kept.
    const candidates = this.startStage === null ? served.models : candidatesAt(served, this.startStage);
    const routerScores =
      asked.routerScores.size === 0
        ? []
        : candidates.flatMap((model) => {
            const score = asked.routerScores.get(model);
            return score === undefined ? [] : [[model, score] as const];
          });
    const decision: Omit<Decision, "sequence"> = {
      id: asked.decisionId,
      planId: served.planId,
      policyHash: served.policyHash,
      finishedAtMs: Date.now(),
      status,
      reason: this.reason,
      endpoint: asked.endpoint.path,
      asked: shownName(asked.model),
      candidates,
      inputTokens: asked.inputTokens,
      degraded: this.#degraded,
      costUsd: config === null ? null : chargedUsd(requestCharges(this.#stages, asked.inputTokens, config)),
      stages: this.#stages,
      ttftSeconds: this.firstTokenMs === null ? null : ((this.firstTokenMs - startedMs) / 1000) * served.timeScale,
      endToEndSeconds: (endToEndMs / 1000) * served.timeScale,
      overheadSeconds: (overheadMs / 1000) * served.timeScale,
    };
    if (this.aborted !== null) decision.aborted = this.aborted;
    if (served.canary) decision.canary = true;
    if (this.#skipped.length > 0) decision.skipped = this.#skipped;
    const { predictedTokens, predictedProgramTokens } = this.expected;
    if (predictedTokens !== undefined) decision.predictedTokens = predictedTokens;
    if (predictedProgramTokens !== undefined) decision.predictedProgramTokens = predictedProgramTokens;
    const due = this.dueSeconds(served.timeScale);
    if (due !== undefined) decision.due = due;
    if (this.promptBlocks !== undefined) decision.promptBlocks = base64Of(this.promptBlocks);
    const { call } = this;
    if (call !== null && asked.agent !== "") decision.agent = call.agentKey;
    const { needs } = served.driver.policy;
    if (call !== null && (needs.includes("identifiers") || needs.includes("workflows"))) decision.programStart = call.programStartSeconds;
    if (call !== null && needs.includes("workflows")) {
      if (this.#forecast !== undefined) decision.forecast = this.#forecast;
      if (this.#reforecasts.length > 0) decision.reforecasts = this.#reforecasts;
    }
    if (served.driver.policy.choosesModel) noteChoice(decision, { asked, served, call, search: this.policyPrediction?.search ?? null });
    if (this.searchedSeconds !== null) decision.searched = this.searchedSeconds;
    const predictions = recordedPrediction(this.policyPrediction);
    if (predictions !== null) decision.predictions = predictions;
    if (asked.programId !== asked.decisionId) decision.program = asked.programId;
    if (this.startReason !== null) decision.startReason = this.startReason;
    if (this.startGain !== undefined) decision.startGain = gainRecordOf(this.startGain, served.singles);
    if (routerScores.length > 0) decision.routerScores = Object.fromEntries(routerScores);
    if (caller.key !== null) decision.key = caller.key;
    if (caller.labels !== undefined) decision.labels = caller.labels;
    if (caller.objective !== null) decision.objective = caller.objective;
    if (prompt !== null) {
      decision.prompt = prompt.text;
      decision.promptCharacters = prompt.characters;
    }
    return decision;
  }
}
