import type { OutgoingHttpHeaders } from "node:http";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { RequestEnd } from "@/server/lib/requestEnd";
import { type FailedOutcome, refusalOf, type StageOutcome } from "../engines/stageOutcome";
import { abortError, abortHeaders, abortKindOf } from "../http/abortError";
import { type ApiError, noRetry, retryAfter } from "../http/apiError";
import { finishReasonsOf } from "../http/finishReasons";
import { noUsage, usageOf } from "../http/usage";
import type { Prediction } from "../prediction/requestPredictions";
import type { Grant, Work } from "../queue/waitingEntry";
import { isCallStage, modelsBehind, type ServedModel } from "../serving/servedModel";
import type { FollowedCall } from "../workflows/followedCall";
import type { ClientAnswer } from "./clientAnswer";
import { judgeAnswer } from "./judgeAnswer";
import { asksToWait, fullQueue, noEndpoint, policyRefusal, type StageFailure, stageFailure } from "./requestErrors";
import type { RequestJournal } from "./requestJournal";
import { RequestProgress } from "./requestProgress";
import { type RequestStart, requestStart } from "./requestStart";
import { callStage, hasOtherStages, type StageCallOptions, type StageReply } from "./stageCall";
import type { Attempt } from "./stageRecords";

export interface RequestRunOptions extends StageCallOptions {
  readonly served: ServedModel;
  readonly start: RequestStart;
  /** Null if no policy asked for predictions. */
  readonly prediction: Prediction | null;
  /** Null if the workflow tracker does not follow it. */
  readonly call: FollowedCall | null;
  /** Class of the work; null: none. */
  readonly objective: string | null;
  /** The gateway itself is its client, and does not send it again. */
  readonly isOwn: boolean;
}

export interface FinishedRun {
  readonly served: ServedModel;
  readonly decision: Omit<Decision, "sequence">;
}

type Answered = Extract<StageOutcome, { kind: "answered" }>;
type Refused = Extract<Grant, { kind: "refused" }>;
type Skip = Extract<Grant, { kind: "skip" }>;

/** One admitted request: it is queued, called and judged stage by stage as its policy decides, until the response is ended. */
export class RequestRun {
  readonly #options: RequestRunOptions;
  readonly #journal: RequestJournal;
  readonly #answer: ClientAnswer;
  readonly #progress: RequestProgress;

  constructor(options: RequestRunOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.#answer = options.answer;
    this.#progress = new RequestProgress(options);
    this.#start(options.start);
  }

  /** Serves the request; never rejects because of engines, judge or client. */
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

  /** Waits for an engine and calls it. */
  async #tryStage(): Promise<number | "again"> {
    const { serving, asked } = this.#options;
    const { driver } = this.#served;
    const awaited = driver.policy.modelOfStage(this.#progress.stage);
    if (!serving.keeps(this.#served, asked, awaited)) return this.#reroute(awaited);
    const queuedMs = performance.now();
    const queued = this.#wait(awaited);
    const grant = queued instanceof Promise ? await queued : queued;
    const queueMs = performance.now() - queuedMs;
    this.#journal.queueMs += queueMs;
    if (grant.kind === "late") return this.#giveUpLate(awaited);
    if (grant.kind === "aborted") return this.#failEnded();
    if (grant.kind === "withdrawn") return this.#reroute(awaited);
    if (grant.kind === "refused") return this.#refused(grant, awaited);
    if (grant.kind === "skip") return this.#skipTo(grant);
    serving.predictions.waited(this.#served.wanted, queueMs, grant);
    if (grant.searchedSeconds !== null) this.#journal.searchedSeconds = grant.searchedSeconds;
    if (this.#journal.isUncalled && grant.stage !== this.#progress.stage) this.#journal.startReason = "model-chosen-at-dispatch";
    this.#progress.dispatched(grant);
    this.#progress.moveTo(grant.stage);
    if (grant.degraded !== null) this.#journal.degrade("telemetry");
    const { failures, evidence } = this.#progress;
    const stage = { served: this.#served, failures, evidence, queueMs };
    const reply = await callStage(grant, stage, this.#options);
    if (reply !== "waits") return this.#settle(reply);
    // It keeps its place: the time at which it joined the queue is the same.
    this.#progress.moveTo(this.#progress.entered);
    return "again";
  }

  /** Waits in the queue of its stage; of a hosted one no longer than until its client needs the answer, if another stage can give it. */
  #wait(model: string): Grant | Promise<Grant | { readonly kind: "late" }> {
    const { serving, signal } = this.#options;
    const work = this.#progress.work();
    if (!serving.pool.isHosted(model) || !hasOtherStages(this.#served, this.#progress.stage))
      return this.#served.driver.queue(work, signal);
    const dueMs = (this.#journal.dueSeconds(1) ?? Number.POSITIVE_INFINITY) * 1000;
    return this.#waitUntil(Math.min(dueMs, performance.now() + serving.pool.mostPauseSeconds(model) * 1000), work);
  }

  /** @param dueMs on the clock of `performance.now()`. */
  async #waitUntil(dueMs: number, work: Work): Promise<Grant | { readonly kind: "late" }> {
    const { signal } = this.#options;
    const end = new RequestEnd();
    const stop = (): void => end.abort("late");
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const timer = setTimeout(stop, Math.max(0, dueMs - performance.now()));
    const grant = await this.#served.driver.queue(work, end);
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    return grant.kind === "aborted" && !signal.aborted ? { kind: "late" } : grant;
  }

  /** The stage took no request in the time that a request waits for it. */
  #giveUpLate(model: string): "again" {
    const message = `${model} took no request in the time that this one waits for it.`;
    const error: ApiError = { status: 503, message, type: "server_error", code: "engine_unavailable" };
    this.#progress.giveUpStage({ error, headers: {} });
    return "again";
  }

  #settle(reply: StageReply): number | "again" | Promise<number | "again"> {
    const { outcome, attempt } = reply;
    const { signal } = this.#options;
    const { driver } = this.#served;
    switch (outcome.kind) {
      case "answered":
        return driver.policy.judges(this.#progress.stage, this.#progress.evidence)
          ? this.#judge(outcome, reply)
          : this.#accept(outcome, attempt);
      case "failed":
        return this.#retry(attempt, outcome);
      case "aborted":
        this.#journal.note(this.#served, attempt, { verdict: "failed", failure: "ended", reason: abortKindOf(signal), ...noUsage });
        return this.#failEnded();
      case "refused":
        this.#journal.note(this.#served, attempt, { verdict: "failed", failure: "refused", reason: refusalOf(outcome), ...noUsage });
        return this.#answer.pass(this.#progress.by(attempt.model), outcome.reply);
      case "streamed": {
        const { firstTokenMs, finishReasons, usage } = outcome;
        const reason = driver.policy.acceptReason(this.#progress.stage, this.#progress.evidence);
        this.#journal.firstTokenMs = firstTokenMs;
        this.#journal.note(this.#served, attempt, { verdict: "accepted", reason, firstTokenMs, finishReasons, ...usage });
        return 200;
      }
      case "broken": {
        const { firstTokenMs, finishReasons, usage } = outcome;
        const reason = `${signal.aborted ? "ended" : "engine failed"} after the first token: ${outcome.reason}`;
        this.#journal.firstTokenMs = firstTokenMs;
        const found = { reason, firstTokenMs, finishReasons, ...usage };
        this.#journal.note(this.#served, attempt, { verdict: "failed", failure: "broken-stream", ...found });
        return signal.aborted ? this.#failEnded() : 502;
      }
    }
  }

  /** Gives the client an answer that the policy does not judge. */
  #accept(answered: Answered, attempt: Attempt): number {
    const reason = this.#served.driver.policy.acceptReason(this.#progress.stage, this.#progress.evidence);
    const { inputTokens, outputTokens, cachedTokens } = usageOf(answered.completion);
    const finishReasons = finishReasonsOf(answered.completion);
    this.#journal.note(this.#served, attempt, { verdict: "accepted", reason, inputTokens, outputTokens, cachedTokens, finishReasons });
    return this.#answer.give(this.#progress.by(attempt.model), answered);
  }

  /** Gives the client an answer that the policy accepts with the score of its gate, or moves to the next stage if it escalates. */
  async #judge(answered: Answered, { attempt, tokens, others }: StageReply): Promise<number | "again"> {
    const { asked, journal, signal, limits } = this.#options;
    const gate = this.#served.gates.get(this.#progress.stage);
    if (gate === undefined) throw new Error(`The stage ${this.#progress.stage} is judged, but has no gate.`);
    const work = this.#progress.work();
    // At least as long as a judge may take: samples of a long answer take about as long as the answer.
    const mostWaitMs = Math.max(limits.judgeSeconds * 1000, attempt.engineMs);
    const isCall = isCallStage(this.#served, this.#progress.stage);
    const judged = await judgeAnswer({
      gate,
      isCall,
      served: this.#served,
      work,
      journal,
      asked,
      answered,
      tokens,
      others,
      mostWaitMs,
      evidence: work.evidence,
      signal,
    });
    if (judged === null)
      return this.#retry(
        { ...attempt, ...(others && { unusedCalls: others.unused }) },
        { failure: "no-answer", reason: "the engine's answer has no text to judge" },
      );
    const { judgement, finding } = judged;
    this.#journal.note(this.#served, attempt, finding);
    if (judgement.kind === "aborted") return this.#failEnded();
    if (judgement.kind === "refused") return this.#refused(judgement, attempt.model);
    this.#journal.passOver(this.#progress, judgement);
    if (judgement.kind === "accept") return this.#answer.give(this.#progress.by(attempt.model), answered);
    this.#journal.escalations += 1;
    this.#progress.keep(answered, attempt.model, finding.score ?? null);
    this.#progress.enter(judgement.stage);
    return "again";
  }

  /** Moves to another stage because its own cannot answer; a stage that has answered is not called again. */
  #skipTo(skip: Skip): number | "again" {
    this.#journal.passOver(this.#progress, skip);
    const { stage, reason } = skip;
    const { kept } = this.#progress;
    if (kept?.stage !== stage) {
      const { serving, limits, objective } = this.#options;
      const { queuedPerModel } = limits;
      const model = this.#served.driver.policy.modelOfStage(stage);
      const full = fullQueue([model], { serving, served: this.#served, queuedPerModel, objective });
      if (full !== null) return this.#fail(full.error, retryAfter(full.retryAfterSeconds));
      this.#progress.enter(stage);
      return "again";
    }
    this.#progress.stage = stage;
    this.#journal.acceptKept(kept.model, reason);
    return this.#answer.give(this.#progress.by(kept.model), kept.answered);
  }

  /** Tries another engine of the stage, then lets the policy choose another stage. */
  #retry(attempt: Attempt, failed: FailedAttempt): number | "again" {
    const { serving, limits, isOwn } = this.#options;
    const { failure, reason, reply } = failed;
    this.#journal.note(this.#served, attempt, { verdict: "failed", failure, reason, ...noUsage });
    this.#progress.failures += 1;
    const { driver } = this.#served;
    const isHosted = attempt.replica.hosted !== null;
    const isUsedUp = this.#progress.failures >= limits.attemptsPerStage || failure === "budget";
    const hasOthers = hasOtherStages(this.#served, this.#progress.stage);
    const behind = modelsBehind(this.#served, attempt.model);
    // Only waiting helps, and the client decides on it: attempts here would multiply with the client's own.
    const isForClient = !isOwn && !isHosted && asksToWait(failed) && !hasOthers && !serving.pool.hasOther(attempt.replica, behind);
    // A refusal to pass on: the other engines of the stage would refuse as well.
    if (reply === undefined && !isUsedUp && !isForClient) {
      // A policy that chooses models may choose another one now.
      this.#progress.moveTo(this.#progress.entered);
      return "again";
    }
    const who = driver.policy.choosesModel ? "Engines" : attempt.model;
    const { failures } = this.#progress;
    const message = `${who} failed ${failures} ${failures === 1 ? "time" : "times"}, last on ${attempt.replica.id}: ${reason}.`;
    const line = driver.lineOf(driver.policy.modelOfStage(this.#progress.entered));
    const waitSeconds = serving.estimateQueueWaitSeconds(line, behind);
    const last = stageFailure(failed, { message, isUsedUp, waitSeconds });
    if (!hasOthers) return this.#failAs(last, attempt.model);
    this.#progress.giveUpStage(last, { isOverBudget: failure === "budget" });
    return "again";
  }

  /** The policy refuses it; another policy that came into force meanwhile may accept it. */
  #refused({ cause, reason }: Pick<Refused, "cause" | "reason">, model: string): number | Promise<number | "again"> {
    const { serving, asked } = this.#options;
    if (serving.serverOf(asked) !== this.#served) return this.#reroute(model);
    const { failure } = this.#progress;
    if (cause === "no-stage" && failure?.reply !== undefined) return this.#failAs(failure, model);
    const recovery = retryAfter(serving.recoverySeconds(this.#served.models));
    // Engines were called in vain: a client that repeats that at once multiplies the attempts.
    return this.#fail(policyRefusal(cause, reason, failure?.error), failure === null ? recovery : { ...recovery, ...noRetry });
  }

  /** Starts over under the policy in force now, since the original policy cannot continue: the client has received nothing yet. */
  async #reroute(model: string): Promise<number | "again"> {
    const { serving, asked, client } = this.#options;
    this.#progress.prediction = await serving.predict(asked);
    const next = serving.serverOf(asked) ?? (this.#served.kind === "cascade" ? serving.cascade : undefined);
    const unserved = (): number => {
      const behind = modelsBehind(this.#served, model);
      return this.#fail(noEndpoint(`No engine serves ${behind.join(" or ")} at the moment.`), retryAfter(serving.recoverySeconds(behind)));
    };
    if (next === undefined) return unserved();
    const again = next === this.#served;
    serving.end(this.#served);
    serving.begin(next);
    this.#journal.judgedScore = null;
    this.#progress.reset(next);
    this.#start(requestStart(asked, next, { serving, client, prediction: this.#progress.prediction }));
    // Another stage of the same policy may still be served.
    return again && !serving.serves(next, next.driver.policy.modelOfStage(this.#progress.stage)) ? unserved() : "again";
  }

  /** Enters the stage at which the policy starts the request. */
  #start({ start, request, policyPrediction }: RequestStart): void {
    const { serving, asked, call } = this.#options;
    const { policy } = this.#served.driver;
    const { stage, reason, skipped, wantedReason = reason } = start;
    this.#progress.search = policyPrediction?.search ?? null;
    if (this.#served.kind === "cascade" && !policy.choosesModel) {
      const forecast = (at: string) => (call === null ? undefined : serving.workflows.forecast(call, at));
      serving.shadow?.start(asked, { request, model: policy.modelOfStage(stage), prediction: this.#progress.prediction, forecast });
    }
    this.#journal.startStage = stage;
    this.#journal.startReason = reason;
    this.#journal.startGain = start.gain;
    this.#journal.policyPrediction = policyPrediction;
    if (wantedReason === "judge-unavailable") this.#journal.degrade("judge");
    this.#journal.passOver(this.#progress, { skipped, reason });
    this.#progress.enter(stage);
  }

  get #served(): ServedModel {
    return this.#progress.served;
  }

  #fail(error: ApiError, headers: OutgoingHttpHeaders): number {
    return this.#answer.fail(this.#progress.by(this.#served.driver.policy.modelOfStage(this.#progress.stage)), error, headers);
  }

  /** Answers as the engine of `model` did, if it did. */
  #failAs({ error, headers, reply }: StageFailure, model: string): number {
    if (reply === undefined) return this.#fail(error, headers);
    this.#journal.reason = error.message;
    return this.#answer.pass(this.#progress.by(model), reply, { error, headers });
  }

  /** Ends it according to its abort signal. */
  #failEnded(): number {
    const { signal } = this.#options;
    this.#journal.aborted = abortKindOf(signal);
    return this.#fail(abortError(signal), abortHeaders(signal));
  }
}

type FailedAttempt = Omit<FailedOutcome, "kind">;
