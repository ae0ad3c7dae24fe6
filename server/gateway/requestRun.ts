import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Decision, FailureKind } from "@/server/contracts/gatewayAdmin";
import { judgeUnavailable, lowerStage, type RefusalCause } from "@/solver/policies/policy";
import type { ApiError } from "./apiError";
import { askEngine, streamsLive } from "./askEngine";
import { type AnsweredBy, ClientAnswer } from "./clientAnswer";
import { endedError } from "./endedError";
import { expectedAt, type Foreseen, foreseenFor, type PolicyForesight } from "./foresight";
import { fullQueue } from "./fullQueue";
import { judgeAnswer } from "./judgeAnswer";
import type { GatewayLimits } from "./limits";
import type { ModelRequest } from "./modelRequest";
import type { RelayOutcome } from "./relayStream";
import type { Replica } from "./replica";
import type { Attempt, RequestJournal } from "./requestJournal";
import { modelsBehind, type ServedModel } from "./servedModel";
import type { Serving } from "./serving";
import { refusalOf, refusesKey, type StageOutcome, stageOutcome, type WholeReply } from "./stageOutcome";
import { StagePlace } from "./stagePlace";
import { noUsage, usageOf } from "./usage";
import type { Grant } from "./waitingEntry";
import type { FollowedCall } from "./workflowBook";

interface RequestRunOptions {
  readonly asked: ModelRequest;
  readonly served: ServedModel;
  readonly serving: Serving;
  /** What predictors say of it; null where no policy asked them. */
  readonly foreseen: Foreseen | null;
  /** Null where nobody learns from it. */
  readonly call: FollowedCall | null;
  readonly journal: RequestJournal;
  /** Class of the work; null where it has none. */
  readonly objective: string | null;
  readonly response: ServerResponse;
  /** Fires with an `EndReason` as its reason. */
  readonly signal: AbortSignal;
  readonly limits: GatewayLimits;
}

export interface FinishedRun {
  readonly served: ServedModel;
  readonly decision: Omit<Decision, "sequence">;
}

/** One admitted request on its way through the stages of its policy, until the response is ended. */
export class RequestRun {
  readonly #options: RequestRunOptions;
  readonly #journal: RequestJournal;
  readonly #answer: ClientAnswer;
  readonly #place: StagePlace;
  #served: ServedModel;
  #foreseen: Foreseen | null;
  /** The latest answer that was sent on, in case no later stage answers. */
  #kept: { readonly answered: Answered; readonly stage: number; readonly model: string } | null = null;
  /** The error for the client where no other stage answers: why the last stage that used up its attempts failed. */
  #failure: Failure | null = null;

  constructor(options: RequestRunOptions) {
    this.#options = options;
    this.#served = options.served;
    this.#foreseen = options.foreseen;
    this.#journal = options.journal;
    this.#answer = new ClientAnswer(options);
    this.#place = new StagePlace(options.asked, options.call);
    this.#start();
  }

  /** Serves the request; never rejects for what engines, judge or client do. */
  async run(): Promise<FinishedRun> {
    const { serving } = this.#options;
    serving.begin(this.#served);
    try {
      let status: number | "again" = "again";
      while (status === "again") status = await this.#tryStage();
      return { served: this.#served, decision: this.#journal.decision(this.#served, status, serving.config) };
    } finally {
      const { programKey, decisionId } = this.#options.asked;
      if (programKey === decisionId) this.#served.driver.end(programKey);
      serving.end(this.#served);
    }
  }

  async #tryStage(): Promise<number | "again"> {
    const { serving, signal, asked } = this.#options;
    const { driver } = this.#served;
    const awaited = driver.policy.modelOfStage(this.#place.stage);
    if (!serving.keeps(this.#served, asked, awaited)) return this.#beginAnew(awaited);
    const queuedMs = performance.now();
    const grant = await driver.queue(this.#place.work(), signal);
    const queueMs = performance.now() - queuedMs;
    this.#journal.queueMs += queueMs;
    if (grant.kind === "aborted") return this.#fail(endedError(signal));
    if (grant.kind === "withdrawn") return this.#beginAnew(awaited);
    if (grant.kind === "refused") return this.#refused(grant, awaited);
    if (grant.kind === "skip") return this.#skipTo(grant);
    const { replica, stage, degraded, queuedSeconds, dispatchedSeconds } = grant;
    serving.foresight.waited(this.#served.wanted, queueMs);
    this.#place.dispatched(grant);
    this.#goTo(stage);
    const { model } = replica;
    if (degraded !== null) this.#journal.degrade("telemetry");
    const { inFlight, maxInFlight, kvUse } = replica;
    const engine: Attempt["engine"] = { inFlight, maxInFlight };
    if (driver.policy.needs.includes("kv-telemetry")) engine.kvUse = kvUse;
    if (driver.policy.memory !== undefined) {
      engine.kvCapacity = replica.kv.capacity;
      engine.preemptions = replica.preemptions;
    }
    if (degraded !== null) engine.degraded = degraded;
    const { priority, value } = replica.priority.priorityFor(asked.priority ?? grant.priority);
    if (priority !== null) engine.priority = priority;
    const startedMs = performance.now();
    const relayed = await this.#ask(replica, { model, startedMs, priority: value });
    const outcome = this.#orFailed(stageOutcome(relayed, asked.endpoint), replica);
    const engineMs = performance.now() - startedMs;
    this.#journal.engineMs += engineMs;
    const failed = outcome.kind === "failed" || outcome.kind === "broken";
    if (!signal.aborted) {
      if (failed) replica.failed();
      else replica.succeeded();
    }
    // It may be of the request, or of a priority that an engine started anew since takes no more.
    if (outcome.kind === "refused" && value !== null) replica.priority.forget();
    if (!failed) serving.answered(model);
    const firstTokenMs = "firstTokenMs" in outcome ? outcome.firstTokenMs : undefined;
    // What the engine refused, or nobody waited for, is no answer either.
    const unanswered = outcome.kind !== "answered" && outcome.kind !== "streamed";
    const answeredSeconds = driver.release(asked.decisionId, replica, { failed: unanswered, firstTokenMs });
    const at = { queued: queuedSeconds, dispatched: dispatchedSeconds, answered: answeredSeconds };
    return this.#settle(outcome, { replica, stage, model, engine, queueMs, engineMs, at });
  }

  /** What an engine refuses that another may take counts as failed while there is another to ask. */
  #orFailed(outcome: StageOutcome, replica: Replica): StageOutcome {
    const { serving, limits } = this.#options;
    if (outcome.kind !== "refused" || !outcome.elsewhere) return outcome;
    // Of the gateway's own key: to a client it would read as if its own were wrong.
    if (replica.keyed && refusesKey(outcome))
      return { kind: "failed", failure: "refused", reason: `${refusalOf(outcome)}: it refuses the key that the gateway has for it` };
    const failed = { kind: "failed", failure: "refused", reason: refusalOf(outcome) } as const;
    if (this.#place.failures + 1 < limits.attemptsPerStage && serving.pool.hasOther(replica)) return failed;
    return this.#hasOtherStages ? { ...failed, reply: outcome.reply } : outcome;
  }

  /** Whether another stage may be asked where one fails; a policy that chooses models has no such order of stages. */
  get #hasOtherStages(): boolean {
    return this.#served.models.length > 1 && !this.#served.driver.policy.choosesModel;
  }

  #ask(replica: Replica, { model, startedMs, priority }: Asking): Promise<RelayOutcome> {
    const { asked, signal, response, limits, serving } = this.#options;
    const live = streamsLive(asked, this.#place.stage, { served: this.#served, given: serving.config?.settings?.streaming });
    const headers = () => this.#answer.headers(this.#by(model), { pendingMs: performance.now() - startedMs });
    return askEngine(asked, { replica, priority, signal, mostBytes: limits.answerBytes }, live ? { response, headers, limits } : null);
  }

  async #settle(outcome: StageOutcome, attempt: Attempt): Promise<number | "again"> {
    const { signal } = this.#options;
    switch (outcome.kind) {
      case "answered":
        return this.#weigh(outcome, attempt);
      case "failed":
        return this.#retry(attempt, outcome);
      case "aborted":
        this.#journal.note(this.#served, attempt, { verdict: "failed", failure: "ended", reason: String(signal.reason), ...noUsage });
        return this.#fail(endedError(signal));
      case "refused":
        this.#journal.note(this.#served, attempt, { verdict: "failed", failure: "refused", reason: refusalOf(outcome), ...noUsage });
        return this.#answer.pass(this.#by(attempt.model), outcome.reply);
      case "streamed":
        this.#journal.firstTokenMs = outcome.firstTokenMs;
        this.#journal.note(this.#served, attempt, {
          verdict: "accepted",
          reason: this.#served.driver.accepted(this.#place.work()),
          firstTokenMs: outcome.firstTokenMs,
          ...outcome.usage,
        });
        return 200;
      case "broken": {
        this.#journal.firstTokenMs = outcome.firstTokenMs;
        const how = signal.aborted ? "ended" : "engine failed";
        const reason = `${how} after the first token: ${outcome.reason}`;
        this.#journal.note(this.#served, attempt, {
          verdict: "failed",
          failure: "broken-stream",
          reason,
          firstTokenMs: outcome.firstTokenMs,
          ...outcome.usage,
        });
        if (!signal.aborted) return 502;
        this.#journal.reason = endedError(signal).message;
        return endedError(signal).status;
      }
    }
  }

  /** Gives a whole answer to the client, or goes on to the next stage when the judge says so. */
  async #weigh(answered: Answered, attempt: Attempt): Promise<number | "again"> {
    const usage = usageOf(answered.completion);
    const { driver } = this.#served;
    if (!driver.policy.judges(this.#place.stage)) {
      this.#journal.note(this.#served, attempt, { verdict: "accepted", reason: driver.accepted(this.#place.work()), ...usage });
      return this.#answer.give(this.#by(attempt.model), answered);
    }
    const { asked, signal } = this.#options;
    const { text } = asked.endpoint;
    const answer = text?.answer(answered.completion) ?? null;
    if (text === null || answer === null)
      return this.#retry(attempt, { failure: "no-answer", reason: "the engine's answer holds nothing to judge" });
    const exchange = { prompt: text.prompt(asked.body), answer, work: this.#place.work(), signal };
    const { verdict, ...judgement } = await judgeAnswer(exchange, this.#served, this.#journal);
    const note = { ...judgement, ...usage };
    if (verdict.kind === "refused") {
      this.#journal.note(this.#served, attempt, { verdict: "escalated", ...note });
      return this.#refused(verdict, attempt.model);
    }
    if (verdict.kind === "aborted") {
      this.#journal.note(this.#served, attempt, { verdict: "failed", failure: "ended", ...note });
      return this.#fail(endedError(signal));
    }
    this.#passOver(verdict);
    if (verdict.kind === "accept") {
      this.#journal.note(this.#served, attempt, { verdict: "accepted", ...note });
      return this.#answer.give(this.#by(attempt.model), answered);
    }
    this.#journal.note(this.#served, attempt, { verdict: "escalated", ...note });
    this.#journal.escalations += 1;
    this.#kept = { answered, stage: this.#place.stage, model: attempt.model };
    this.#place.keepAnswer();
    this.#enter(verdict.stage);
    return "again";
  }

  /** Goes on at another stage than the one that cannot answer; one that has answered is not asked again. */
  #skipTo({ stage, skipped, reason }: Skip): number | "again" {
    this.#passOver({ skipped, reason });
    if (this.#kept?.stage !== stage) {
      const { serving, limits, objective } = this.#options;
      const { queuedPerModel } = limits;
      const model = this.#served.driver.policy.modelOfStage(stage);
      const full = fullQueue([model], { serving, served: this.#served, queuedPerModel, objective });
      if (full !== null) return this.#fail(full.error, { "retry-after": String(full.retryAfterSeconds) });
      this.#enter(stage);
      return "again";
    }
    const { answered, model } = this.#kept;
    this.#place.stage = stage;
    this.#journal.acceptKept(model, reason);
    return this.#answer.give(this.#by(model), answered);
  }

  /** Notes which stages were passed over because they cannot answer. */
  #passOver({ skipped = [], reason }: Partial<Pick<Skip, "skipped">> & Pick<Skip, "reason">): void {
    const { failedStages = [] } = this.#place.work();
    for (const stage of skipped) {
      this.#journal.skip(this.#served.driver.policy.modelOfStage(stage), failedStages.includes(stage) ? "failed" : "lost");
    }
    if (skipped.length > 0) this.#journal.degrade(reason === lowerStage ? "lower-stage" : "stage");
  }

  #retry(attempt: Attempt, { failure, reason, reply }: FailedAttempt): number | "again" {
    const { serving, limits } = this.#options;
    this.#journal.note(this.#served, attempt, { verdict: "failed", failure, reason, ...noUsage });
    this.#place.failures += 1;
    const { policy } = this.#served.driver;
    // Engines of the stage that would refuse it as well are not asked again.
    if (reply === undefined && this.#place.failures < limits.attemptsPerStage) {
      // Where the policy chooses models it may choose another now.
      this.#goTo(this.#place.entered);
      return "again";
    }
    const failed = policy.choosesModel ? "Engines" : attempt.model;
    const message = `${failed} failed ${this.#place.failures} times, last on ${attempt.replica.id}: ${reason}.`;
    const model = policy.modelOfStage(this.#place.entered);
    if (failure === "status-429") {
      const seconds = serving.drainSeconds(this.#served.driver.lineOf(model), modelsBehind(this.#served, model));
      const error: ApiError = { status: 429, message, type: "rate_limit_error", code: "engine_full" };
      this.#failure = { error, headers: { "retry-after": String(seconds) } };
    } else this.#failure = { error: { status: 502, message, type: "server_error", code: "engine_failed" }, headers: {}, reply };
    if (!this.#hasOtherStages) return this.#fail(this.#failure.error, this.#failure.headers);
    // The policy says which stage is asked instead.
    this.#place.giveUpStage();
    return "again";
  }

  /** Nothing can serve it as its policy must have it; another that came into force meanwhile may. */
  #refused(
    { cause, reason }: { readonly cause: RefusalCause; readonly reason: string },
    model: string,
  ): number | Promise<number | "again"> {
    const { serving, asked } = this.#options;
    if (serving.serverOf(asked) !== this.#served) return this.#beginAnew(model);
    const headers = { "retry-after": String(serving.recoverySeconds(this.#served.models)) };
    if (cause === "no-configuration")
      return this.#fail({ status: 503, message: reason, type: "server_error", code: "no_configuration" }, headers);
    if (this.#failure?.reply !== undefined) return this.#answer.pass(this.#by(model), this.#failure.reply);
    // Full engines are no dead ones: their client may come again as soon as they have room.
    if (this.#failure?.error.status === 429) return this.#fail(this.#failure.error, this.#failure.headers);
    const message = [reason, this.#failure?.error.message].filter((part) => part !== undefined).join(" ");
    return this.#fail({ status: 503, message, type: "server_error", code: "no_endpoint" }, headers);
  }

  /** What it began under may not go on with it, as when the engines of `model` left; nothing was sent to the client, so it starts over. */
  async #beginAnew(model: string): Promise<number | "again"> {
    const { serving, asked } = this.#options;
    this.#foreseen = await serving.foresee(asked);
    const next = serving.serverOf(asked) ?? (this.#served.kind === "cascade" ? serving.cascade : undefined);
    const unserved = (): number => {
      const behind = modelsBehind(this.#served, model);
      const message = `No engine serves ${behind.join(" or ")} at the moment.`;
      const headers = { "retry-after": String(serving.recoverySeconds(behind)) };
      return this.#fail({ status: 503, message, type: "server_error", code: "no_endpoint" }, headers);
    };
    if (next === undefined) return unserved();
    const again = next === this.#served;
    serving.end(this.#served);
    serving.begin(next);
    this.#served = next;
    this.#journal.judgedScore = null;
    this.#kept = null;
    this.#failure = null;
    this.#place.beginAnew();
    this.#start();
    // Another stage of the same policy may be served still.
    return again && !serving.serves(next, next.driver.policy.modelOfStage(this.#place.stage)) ? unserved() : "again";
  }

  /** Enters the stage at which the policy starts the request. */
  #start(): void {
    const { serving, asked, call } = this.#options;
    const { driver, kind } = this.#served;
    const foresight = this.#foresight;
    this.#place.accurate = foresight?.accurate;
    const request = serving.starting(this.#served, asked, foresight);
    const { stage, reason, skipped, wantedReason = reason } = driver.policy.start(request);
    if (kind === "cascade" && !driver.policy.choosesModel) {
      const model = driver.policy.modelOfStage(stage);
      const forecast = (at: string) => (call === null ? undefined : serving.workflows.forecast(call, at));
      serving.shadow?.start(asked, { request, model, foreseen: this.#foreseen, forecast });
    }
    this.#journal.startReason = reason;
    this.#journal.foresight = foresight;
    if (wantedReason === judgeUnavailable) this.#journal.degrade("judge");
    if (skipped !== undefined) this.#passOver({ skipped, reason });
    this.#enter(stage);
  }

  #enter(stage: number): void {
    this.#place.enter(stage);
    this.#expect(stage);
  }

  /** Stands at another stage, without joining a queue. */
  #goTo(stage: number): void {
    if (stage === this.#place.stage) return;
    this.#place.stage = stage;
    this.#expect(stage);
  }

  /** Says what is expected of a stage's model. */
  #expect(stage: number): void {
    const { asked, call, serving } = this.#options;
    const model = this.#served.models[stage] ?? "";
    const expected = expectedAt(model, asked, this.#foresight);
    const reads = call !== null && this.#served.driver.policy.needs.includes("workflows");
    const forecast = reads ? serving.workflows.forecast(call, model) : undefined;
    this.#journal.expected = expected;
    this.#journal.forecast = forecast;
    this.#place.expect(expected, forecast);
  }

  /** What predictors say to the policy that it goes by. */
  get #foresight(): PolicyForesight | null {
    return foreseenFor(this.#foreseen, this.#served.wanted);
  }

  #fail(error: ApiError, headers?: OutgoingHttpHeaders): number {
    return this.#answer.fail(this.#by(this.#served.models[this.#place.stage] ?? ""), error, headers);
  }

  #by(model: string): AnsweredBy {
    return { served: this.#served, stage: this.#place.stage, model };
  }
}

type Answered = Extract<StageOutcome, { kind: "answered" }>;

type Skip = Extract<Grant, { kind: "skip" }>;

interface Failure {
  readonly error: ApiError;
  readonly headers: OutgoingHttpHeaders;
  /** An engine's own refusal, passed on in place of the error. */
  readonly reply?: WholeReply | undefined;
}

interface FailedAttempt extends Pick<Failure, "reply"> {
  readonly failure: FailureKind;
  readonly reason: string;
}

interface Asking {
  readonly model: string;
  readonly startedMs: number;
  /** As this engine counts; null: none. */
  readonly priority: number | null;
}
