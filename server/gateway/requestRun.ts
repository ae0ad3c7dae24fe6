import type { ServerResponse } from "node:http";
import type { Decision, StageRecord } from "@/server/contracts/gatewayAdmin";
import { type ApiError, sendError } from "./apiError";
import { endedError } from "./endedError";
import type { GeneratedText } from "./endpoint";
import { callEngine, type EngineCall, type EngineReply } from "./engineCall";
import { isRecord } from "./isRecord";
import { engineBody, type ModelRequest } from "./modelRequest";
import { eventStreamHeaders, type RelayOutcome, relayStream } from "./relayStream";
import type { Replica } from "./replica";
import { RequestJournal } from "./requestJournal";
import type { ServedModel } from "./servedModel";
import type { Serving } from "./serving";
import { noUsage, type Usage, usageOf } from "./usage";

interface RequestRunOptions {
  readonly asked: ModelRequest;
  readonly served: ServedModel;
  readonly serving: Serving;
  readonly response: ServerResponse;
  /** Fires with an `EndReason` as its reason. */
  readonly signal: AbortSignal;
  readonly attemptsPerStage: number;
  readonly startedMs: number;
}

export interface FinishedRun {
  readonly served: ServedModel;
  readonly decision: Omit<Decision, "sequence">;
}

/** What a stage's engine was asked, where and how long it took. */
interface Attempt {
  readonly replica: Replica;
  readonly model: string;
  readonly queueMs: number;
  readonly engineMs: number;
}

/** One admitted request on its way through the stages of its policy, until the response is ended. */
export class RequestRun {
  readonly #options: RequestRunOptions;
  readonly #journal: RequestJournal;
  #served: ServedModel;
  #stage = 0;
  #attempts = 0;
  #arrivalSeconds: number;
  #queuedSinceSeconds: number;

  constructor(options: RequestRunOptions) {
    this.#options = options;
    this.#served = options.served;
    this.#journal = new RequestJournal({ ...options.asked, startedMs: options.startedMs });
    this.#arrivalSeconds = this.#served.driver.nowSeconds();
    this.#queuedSinceSeconds = this.#arrivalSeconds;
    this.#start();
  }

  /** Serves the request; never rejects for what engines, judge or client do. */
  async run(): Promise<FinishedRun> {
    const { serving } = this.#options;
    serving.begin(this.#served);
    try {
      let status: number | "again" = "again";
      while (status === "again") status = await this.#tryStage();
      return { served: this.#served, decision: this.#journal.decision(this.#served, status) };
    } finally {
      serving.end(this.#served);
    }
  }

  async #tryStage(): Promise<number | "again"> {
    const { serving, signal } = this.#options;
    const { driver } = this.#served;
    const model = driver.policy.modelOfStage(this.#stage);
    if (!serving.serves(this.#served, model)) return this.#beginAnew(model);
    const queuedMs = performance.now();
    const grant = await driver.queue(this.#work(), signal);
    const queueMs = performance.now() - queuedMs;
    this.#journal.queueMs += queueMs;
    if (grant.kind === "aborted") return this.#aborted();
    if (grant.kind === "withdrawn") return this.#beginAnew(model);
    const { replica } = grant;
    const startedMs = performance.now();
    const outcome = await this.#ask(replica, { model, startedMs });
    const engineMs = performance.now() - startedMs;
    this.#journal.engineMs += engineMs;
    const failure = failureOf(outcome);
    if (failure !== null && !signal.aborted) replica.failed();
    else if (!signal.aborted) replica.succeeded();
    driver.release(this.#options.asked.decisionId, replica, { failed: failure !== null });
    return this.#settle(outcome, { replica, model, queueMs, engineMs });
  }

  #ask(replica: Replica, { model, startedMs }: { readonly model: string; readonly startedMs: number }): Promise<RelayOutcome> {
    const { asked, signal, response } = this.#options;
    const live = asked.stream && !this.#served.driver.policy.judges(this.#stage);
    const call: EngineCall = {
      pool: replica.pool,
      path: replica.basePath + asked.endpoint.path,
      headers: asked.upstreamHeaders,
      body: engineBody(asked, model, { stream: live }),
      signal,
    };
    if (!live) return callEngine(call).then((reply) => ({ kind: "not-begun", reply }));
    const headers = () => this.#headers(model, { pendingMs: performance.now() - startedMs });
    return relayStream({ call, response, headers });
  }

  async #settle(outcome: RelayOutcome, attempt: Attempt): Promise<number | "again"> {
    if (outcome.kind === "not-begun") return this.#settleReply(outcome.reply, attempt);
    this.#journal.firstTokenMs = outcome.firstTokenMs;
    if (outcome.kind === "streamed") {
      this.#note(attempt, { verdict: "accepted", reason: "last-stage", usage: outcome.usage });
      return 200;
    }
    const { signal } = this.#options;
    const how = signal.aborted ? "ended" : "engine failed";
    if (signal.aborted) this.#journal.reason = endedError(signal).message;
    this.#note(attempt, { verdict: "failed", reason: `${how} after the first token: ${outcome.reason}`, usage: outcome.usage });
    return signal.aborted ? endedError(signal).status : 502;
  }

  async #settleReply(reply: EngineReply, attempt: Attempt): Promise<number | "again"> {
    if (reply.kind === "aborted") {
      this.#note(attempt, { verdict: "failed", reason: String(this.#options.signal.reason) });
      return this.#aborted();
    }
    if (reply.kind === "failed") return this.#retry(attempt, reply.reason);
    if (mayBeRetried(reply.status)) return this.#retry(attempt, `the engine answered ${reply.status}`);
    if (reply.status !== 200) {
      this.#note(attempt, { verdict: "failed", reason: `the engine answered ${reply.status}` });
      return this.#send(attempt.model, reply);
    }
    const completion = parseCompletion(reply.body);
    const usage = usageOf(completion);
    if (!this.#served.driver.policy.judges(this.#stage)) {
      this.#note(attempt, { verdict: "accepted", reason: "last-stage", usage });
      return this.#send(attempt.model, reply);
    }
    const { text } = this.#options.asked.endpoint;
    const answer = text?.answer(completion) ?? null;
    if (!text || answer === null || !isRecord(completion)) return this.#retry(attempt, "the engine's answer is no completion");
    return this.#judge({ reply, completion, text, answer, usage }, attempt);
  }

  async #judge({ reply, completion, text, answer, usage }: Answered, attempt: Attempt): Promise<number | "again"> {
    const { asked, signal, response } = this.#options;
    const { driver, judge } = this.#served;
    const startedMs = performance.now();
    const reading = judge ? await judge.score(text.prompt(asked.body), answer, signal) : { score: null, failure: "no judge is configured" };
    const judgeMs = performance.now() - startedMs;
    this.#journal.judgeMs += judgeMs;
    this.#journal.judgedScore = reading.score;
    const verdict = await driver.judged(this.#work(), { judgedScore: reading.score, signal });
    if (verdict.kind === "aborted") {
      this.#note(attempt, { verdict: "failed", reason: "aborted while judged", usage, judgeMs, score: reading.score });
      return this.#aborted();
    }
    const reason = reading.failure === null ? verdict.reason : `${verdict.reason}: ${reading.failure}`;
    if (verdict.kind === "escalate") {
      this.#note(attempt, { verdict: "escalated", reason, usage, judgeMs, score: reading.score });
      this.#journal.escalations += 1;
      this.#enter(verdict.stage);
      return "again";
    }
    this.#note(attempt, { verdict: "accepted", reason, usage, judgeMs, score: reading.score });
    if (!asked.stream) return this.#send(attempt.model, reply);
    this.#journal.firstTokenMs = performance.now();
    response.writeHead(200, { ...this.#headers(attempt.model), ...eventStreamHeaders });
    response.end(text.events(completion, { includeUsage: asked.includeUsage }));
    return 200;
  }

  #retry(attempt: Attempt, reason: string): number | "again" {
    this.#note(attempt, { verdict: "failed", reason });
    this.#attempts += 1;
    if (this.#attempts < this.#options.attemptsPerStage) return "again";
    const message = `${attempt.model} failed ${this.#attempts} times, last on ${attempt.replica.id}: ${reason}.`;
    return this.#fail({ status: 502, message, type: "server_error", code: "engine_failed" });
  }

  /** The engines of `model` left with a new configuration; nothing was sent to the client, so the request starts over under it. */
  #beginAnew(model: string): number | "again" {
    const { serving, asked } = this.#options;
    const next = serving.find(asked.model) ?? (this.#served.kind === "cascade" ? serving.cascade : undefined);
    if (next === undefined || next === this.#served) {
      return this.#fail({ status: 503, message: `No engine serves ${model} at the moment.`, type: "server_error", code: "no_endpoint" });
    }
    serving.end(this.#served);
    serving.begin(next);
    this.#served = next;
    this.#journal.judgedScore = null;
    this.#arrivalSeconds = next.driver.nowSeconds();
    this.#start();
    return "again";
  }

  /** Enters the stage at which the policy starts the request. */
  #start(): void {
    const { asked, serving } = this.#options;
    const routerScores = (model: string): number | undefined => asked.routerScores.get(model);
    const { stage, reason } = this.#served.driver.policy.start({ ...asked, routerScores, replicas: serving.pool.replicas });
    this.#journal.startReason = reason;
    this.#enter(stage);
  }

  #enter(stage: number): void {
    this.#stage = stage;
    this.#attempts = 0;
    this.#queuedSinceSeconds = this.#served.driver.nowSeconds();
  }

  #work() {
    const { decisionId, programId, inputTokens } = this.#options.asked;
    return {
      id: decisionId,
      programId,
      stage: this.#stage,
      programArrivalSeconds: this.#arrivalSeconds,
      queuedSinceSeconds: this.#queuedSinceSeconds,
      inputTokens,
    };
  }

  #headers(model: string, { pendingMs = 0 }: { readonly pendingMs?: number } = {}) {
    return this.#journal.headers(this.#served, { stage: this.#stage, model, pendingMs });
  }

  /** Passes an engine's whole answer on as it came. */
  #send(model: string, { status, contentType, body }: WholeReply): number {
    this.#journal.firstTokenMs = performance.now();
    const { response } = this.#options;
    response.writeHead(status, { ...this.#headers(model), "content-type": contentType, "content-length": body.length });
    response.end(body);
    return status;
  }

  #fail(error: ApiError): number {
    this.#journal.reason = error.message;
    const { response } = this.#options;
    if (!response.headersSent && !response.destroyed) sendError(response, error, this.#headers(this.#served.models[this.#stage] ?? ""));
    return error.status;
  }

  #aborted(): number {
    const error = endedError(this.#options.signal);
    return this.#fail(error);
  }

  #note(attempt: Attempt, { verdict, reason, usage = noUsage, judgeMs = null, score = null }: Note): void {
    const scale = this.#served.timeScale / 1000;
    this.#journal.stages.push({
      model: attempt.model,
      replica: attempt.replica.id,
      queueSeconds: attempt.queueMs * scale,
      seconds: attempt.engineMs * scale,
      judgeSeconds: judgeMs === null ? null : judgeMs * scale,
      judgedScore: score,
      threshold: this.#served.thresholds[this.#stage] ?? null,
      verdict,
      reason,
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
    });
  }
}

type WholeReply = Extract<EngineReply, { kind: "answered" }>;

interface Answered {
  readonly reply: WholeReply;
  readonly completion: Readonly<Record<string, unknown>>;
  readonly text: GeneratedText;
  readonly answer: string;
  readonly usage: Usage;
}

interface Note {
  readonly verdict: StageRecord["verdict"];
  readonly reason: string;
  readonly usage?: Usage;
  readonly judgeMs?: number | null;
  readonly score?: number | null;
}

/** An engine that is broken or full may do better elsewhere; any other error is the request's own. */
function mayBeRetried(status: number): boolean {
  return status >= 500 || status === 429;
}

function failureOf(outcome: RelayOutcome): string | null {
  if (outcome.kind === "streamed") return null;
  if (outcome.kind === "broken") return outcome.reason;
  const { reply } = outcome;
  if (reply.kind === "failed") return reply.reason;
  return reply.kind === "answered" && mayBeRetried(reply.status) ? `status ${reply.status}` : null;
}

function parseCompletion(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
