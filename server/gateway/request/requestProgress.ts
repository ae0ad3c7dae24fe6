import type { SkipCause } from "@/server/contracts/gateway/gatewayAdmin";
import type { ScoredAnswer } from "@/solver/nextModel/nextModel";
import type { Evidence, WaitingWork, WorkflowCall } from "@/solver/policies/core/policy";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { StageOutcome } from "../engines/stageOutcome";
import { callOf, type ModelRequest, promptBlocksOf } from "../http/modelRequest";
import { expectedAt, type PolicyPrediction, type Prediction, predictionFor, scoreOf } from "../prediction/requestPredictions";
import type { Work } from "../queue/waitingEntry";
import type { ServedModel } from "../serving/servedModel";
import type { LeavingClient, Serving } from "../serving/serving";
import type { FollowedCall } from "../workflows/followedCall";
import type { AnsweredBy } from "./clientAnswer";
import type { StageFailure } from "./requestErrors";
import type { RequestJournal } from "./requestJournal";

type Expected = Pick<WaitingWork, "predictedTokens" | "predictedProgramTokens">;

/** A whole answer that was escalated; the client gets it if no later stage answers. */
interface KeptAnswer {
  readonly answered: Extract<StageOutcome, { kind: "answered" }>;
  readonly stage: number;
  readonly model: string;
}

interface ProgressOptions {
  readonly asked: ModelRequest;
  readonly served: ServedModel;
  readonly serving: Serving;
  /** Null if no policy asked for predictions. */
  readonly prediction: Prediction | null;
  /** Null if the request is not followed: its program then starts when it joins its first queue. */
  readonly call: FollowedCall | null;
  readonly journal: RequestJournal;
  readonly client: LeavingClient;
}

/** The position of a request in its policy: its stage, its failed attempts and the answer that is kept. */
export class RequestProgress {
  /** Its policy, with the models. */
  served: ServedModel;
  prediction: Prediction | null;
  /** 0 for the first. */
  stage = 0;
  /** The stage that the request entered; it waits there again when an engine fails. */
  entered = 0;
  /** Failed engine calls since then. */
  failures = 0;
  kept: KeptAnswer | null = null;
  /** Of the last stage that used up its attempts; the client gets its error if no other stage answers. */
  failure: StageFailure | null = null;
  /** The search for the accurate configurations of its program; null: none is made. */
  search: PolicyPrediction["search"] = null;
  /** Stages that used up their attempts. */
  readonly #failed: number[] = [];
  /** Those of them whose budget had no room for it. */
  readonly #unaffordable: number[] = [];
  /** Stages whose answers were escalated and are kept. */
  readonly #answered: number[] = [];
  /** The scores of those answers. */
  readonly #scored: ScoredAnswer[] = [];
  readonly #workflowCall: WorkflowCall | undefined;
  /** Hashes of its prompt's blocks; null: no policy has read them yet. */
  #promptBlocks: { readonly hashes: Uint32Array | undefined } | null = null;
  readonly #options: ProgressOptions;
  /** When it joined its first queue under this policy and the queue of its stage, in engine seconds; undefined before. */
  #arrivalSeconds: number | undefined;
  #queuedSinceSeconds: number | undefined;
  #expected: Expected = {};
  #forecast: AgentForecast | undefined;
  /** The model whose forecast its policy reads; null: it reads none. */
  #forecastModel: string | null = null;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.served = options.served;
    this.prediction = options.prediction;
    this.#workflowCall = callOf(options.asked);
  }

  /** Stages that its data must not reach; undefined: none. */
  get barred(): readonly number[] | undefined {
    const { serving, asked, client } = this.#options;
    return serving.barredStages(this.served, asked, client);
  }

  /** Why a stage could not answer it. */
  skipCause(stage: number): SkipCause {
    if (this.barred?.includes(stage)) return "data-stays";
    const isOverBudget =
      this.#unaffordable.includes(stage) || this.#options.serving.pool.isOverBudget(this.served.driver.policy.modelOfStage(stage));
    return isOverBudget ? "budget" : this.#failed.includes(stage) ? "failed" : "lost";
  }

  /** The predictions that its policy reads. */
  get policyPrediction(): PolicyPrediction | null {
    return predictionFor(this.prediction, this.served.wanted);
  }

  /** The answer's origin: a model of the current stage. */
  by(model: string): AnsweredBy {
    return { served: this.served, stage: this.stage, model };
  }

  /** Enters a stage and joins its queue as new. */
  enter(stage: number): void {
    this.stage = stage;
    this.entered = stage;
    this.failures = 0;
    this.#queuedSinceSeconds = undefined;
    this.#expectAt(stage);
  }

  /** Moves to another stage without joining its queue. */
  moveTo(stage: number): void {
    if (stage === this.stage) return;
    this.stage = stage;
    this.failures = 0;
    this.#expectAt(stage);
  }

  /** The stage used up its attempts. */
  giveUpStage(failure: StageFailure, { isOverBudget = false }: { readonly isOverBudget?: boolean } = {}): void {
    this.failure = failure;
    this.#failed.push(this.stage);
    if (isOverBudget) this.#unaffordable.push(this.stage);
    this.failures = 0;
  }

  /** Keeps the answer of the stage, which was escalated with this score of its gate. */
  keep(answered: KeptAnswer["answered"], model: string, score: number | null): void {
    this.kept = { answered, stage: this.stage, model };
    this.#answered.push(this.stage);
    this.#scored.push({ stage: this.stage, score });
  }

  /** Called when the policy sent it to an engine. */
  dispatched({ queuedSeconds }: { readonly queuedSeconds: number }): void {
    this.#queuedSinceSeconds = queuedSeconds;
    this.#arrivalSeconds ??= queuedSeconds;
  }

  /** Starts over under a policy that has not seen the request. */
  reset(served: ServedModel): void {
    this.served = served;
    this.kept = null;
    this.failure = null;
    this.#arrivalSeconds = undefined;
    this.#failed.length = 0;
    this.#unaffordable.length = 0;
    this.#answered.length = 0;
    this.#scored.length = 0;
  }

  /** The request as a policy sees it. */
  work(): Work {
    const { decisionId, programKey: programId, inputTokens } = this.#options.asked;
    return {
      id: decisionId,
      programId,
      stage: this.stage,
      programArrivalSeconds: this.#options.call?.programStartSeconds ?? this.#arrivalSeconds,
      queuedSinceSeconds: this.#queuedSinceSeconds,
      inputTokens,
      predictedTokens: this.#expected.predictedTokens,
      predictedProgramTokens: this.#expected.predictedProgramTokens,
      dueSeconds: this.#options.journal.dueSeconds(this.served.timeScale),
      call: this.#workflowCall,
      accurate: this.search?.accurate,
      margins: this.search?.margins,
      search: this.search,
      forecast: this.#forecast,
      reforecast: this.#forecastModel === null ? undefined : (nowSeconds) => this.#reforecast(nowSeconds),
      failedStages: this.#failed.length === 0 ? undefined : this.#failed,
      barredStages: this.barred,
      answeredStages: this.#answered.length === 0 ? undefined : this.#answered,
      evidence: this.evidence,
      promptBlocks: this.#hashes(),
    };
  }

  /** The hashes of its prompt's blocks, made once and only if its policy reads them. */
  #hashes(): Uint32Array | undefined {
    if (!this.served.driver.policy.needs.includes("prefixes")) return undefined;
    this.#promptBlocks ??= { hashes: promptBlocksOf(this.#options.asked) };
    this.#options.journal.promptBlocks = this.#promptBlocks.hashes;
    return this.#promptBlocks.hashes;
  }

  /** What its policy reads of it besides the answer at hand; undefined if it reads nothing. */
  get evidence(): Evidence | undefined {
    if (!this.served.driver.policy.readsEvidence) return undefined;
    const { policyPrediction } = this;
    return { routerScores: (model) => scoreOf(model, this.#options.asked, policyPrediction), answers: this.#scored };
  }

  /** Sets the expected answer length and the forecast of the agent at the model of a stage. */
  #expectAt(stage: number): void {
    const { asked, call, serving, journal } = this.#options;
    const model = this.served.driver.policy.modelOfStage(stage);
    const reads = call !== null && this.served.driver.policy.needs.includes("workflows");
    this.#expected = expectedAt(model, asked, this.policyPrediction);
    this.#forecastModel = reads ? model : null;
    this.#forecast = reads ? serving.workflows.forecast(call, model) : undefined;
    journal.expected = this.#expected;
    journal.startForecast(this.#forecast);
  }

  /** The forecast in force, recorded if it differs from the one before. */
  #reforecast(nowSeconds: number): AgentForecast | undefined {
    const { call, serving, journal } = this.#options;
    if (call === null || this.#forecastModel === null) return this.#forecast;
    const forecast = serving.workflows.forecast(call, this.#forecastModel);
    if (forecast !== this.#forecast) journal.changeForecast(nowSeconds, forecast);
    this.#forecast = forecast;
    return forecast;
  }
}
