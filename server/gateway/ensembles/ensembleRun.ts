import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import type { EnsembleOutcome } from "@/server/contracts/gateway/gatewayEnsembles";
import { reasonOf } from "@/server/lib/reasonOf";
import type { RequestEnd } from "@/server/lib/requestEnd";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { abortError, abortHeaders, clientGone } from "../http/abortError";
import { type ApiError, sendError, sendJson } from "../http/apiError";
import type { BodyReservation } from "../http/bodyMemoryBudget";
import type { Caller } from "../http/callers";
import { completionEvents } from "../http/completionEvents";
import type { GatewayLimits } from "../http/limits";
import { type LoopbackAnswer, type LoopbackClient, type LoopbackFailure, readLoopbackAnswer } from "../http/loopbackClient";
import type { ModelRequest } from "../http/modelRequest";
import type { Usage } from "../http/usage";
import { EnsembleChunks } from "./ensembleChunks";
import type { FinishedCall } from "./ensembleCount";
import { answerOf, answersOf, finishedCall, sumOf, usagesOf } from "./ensembleReport";
import { aggregatorBody, expertBody } from "./ensembleRequest";
import { EnsembleStream } from "./ensembleStream";
import { decidesAfterSeconds } from "./ensembleTime";
import { isRefused, noAnswerError, outOfTime, retryHeaders } from "./ensembleUnanswered";
import { type Asked, type Voted, Voting } from "./ensembleVotes";

/** A request whose body names an ensemble. */
export interface EnsembleArrival {
  readonly asked: ModelRequest;
  /** On the clock of `performance.now()`. */
  readonly startedMs: number;
  readonly caller: Caller;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Fires when the client disconnects, and when the gateway ends. */
  readonly abort: RequestEnd;
  readonly place: BodyReservation;
  readonly idHeaders: OutgoingHttpHeaders;
}

interface EnsembleRunOptions {
  readonly arrival: EnsembleArrival;
  readonly id: string;
  readonly ensemble: Ensemble;
  readonly experts: readonly string[];
  readonly loopback: LoopbackClient;
  readonly limits: GatewayLimits;
  /** Engine seconds per wall second. */
  readonly timeScale: number;
  /** The current threshold. */
  readonly tau: () => number;
}

/** A request that does not count for the ensemble: its client disconnected, or asked something that no model answers. */
export interface Uncounted {
  readonly status: number;
}

/**
 * One request of an ensemble: its experts are called in parallel, the gate decides on their votes, the aggregator is called where required.
 * The experts have their deadline, and half of `requestSeconds` at most; the aggregator has the rest of that time. If it has written
 * nothing by then, it has failed and the leading answer is given; if it is writing a stream, the stream is broken off with an error.
 */
export class EnsembleRun {
  readonly #options: EnsembleRunOptions;
  readonly #voting: Voting;
  readonly #stream: EnsembleStream | null;
  /** Fires when the time of a request is over. */
  readonly #timeOver = new AbortController();

  constructor(options: EnsembleRunOptions) {
    this.#options = options;
    const { arrival, ensemble, experts, tau, timeScale, limits } = options;
    const { asked, response, abort, idHeaders } = arrival;
    this.#stream = asked.stream ? new EnsembleStream(response, { limits, headers: idHeaders }) : null;
    this.#voting = new Voting({
      ...{ ensemble, experts, tau, signal: abort.abortSignal },
      deadlineMs: (decidesAfterSeconds(ensemble, limits, timeScale) / timeScale) * 1000,
      ask: (expert, signal) => this.#whole(expert, expertBody(asked, expert, ensemble), signal),
    });
  }

  /** Makes the gate decide again, for example when its threshold has changed. */
  look(): void {
    this.#voting.look();
  }

  /** Answers the client and returns the outcome. Never rejects because of engines or client. */
  async answer(): Promise<FinishedCall | Uncounted> {
    const { id, timeScale, arrival, limits } = this.#options;
    const timer = setTimeout(() => this.#timeOver.abort(), limits.requestSeconds * 1000);
    try {
      const voted = await this.#voting.decided;
      const decidedSeconds = this.#seconds;
      const outcome = arrival.abort.signal.aborted ? this.#ended() : await this.#answerBy(voted);
      if (typeof outcome !== "string") return outcome;
      return finishedCall(voted, { id, outcome, timeScale, decidedSeconds, seconds: this.#seconds });
    } finally {
      clearTimeout(timer);
    }
  }

  async #answerBy(voted: Voted): Promise<EnsembleOutcome | Uncounted> {
    const { decision } = voted;
    const leading = answerOf(voted, decision.leading?.expert);
    if (decision.kind === "skip" && leading !== undefined) return this.#give("skipped", leading, { voted, usages: usagesOf(voted) });
    const signal = AbortSignal.any([this.#options.arrival.abort.abortSignal, this.#timeOver.signal]);
    const aggregated = await (this.#stream === null ? this.#aggregate(voted, signal) : this.#relay(voted, this.#stream, signal));
    if (typeof aggregated === "string" || !("code" in aggregated)) return aggregated;
    if (this.#options.arrival.abort.signal.aborted) return this.#ended();
    if (leading !== undefined) return this.#give("aggregator-failed", leading, { voted, usages: usagesOf(voted) });
    const error = noAnswerError(voted, this.#options.ensemble, aggregated);
    this.#fail(error, retryHeaders(voted, aggregated));
    return isRefused(error) ? { status: error.status } : "failed";
  }

  /**
   * Requests a whole answer from the aggregator and sends it.
   * @returns the outcome, or why there is no answer.
   */
  async #aggregate(voted: Voted, signal: AbortSignal): Promise<EnsembleOutcome | LoopbackFailure> {
    const { arrival, ensemble } = this.#options;
    const body = aggregatorBody(arrival.asked, ensemble, { answers: answersOf(voted), stream: false });
    const got = await this.#whole(ensemble.aggregator.model, body, signal);
    if (!got.ok) return got.error;
    return this.#give("aggregated", got.answer, { voted, usages: [...usagesOf(voted), got.answer.usage] });
  }

  /** As `#aggregate`, but relays the aggregator's answer as it is written. */
  async #relay(voted: Voted, stream: EnsembleStream, signal: AbortSignal): Promise<EnsembleOutcome | Uncounted | LoopbackFailure> {
    const { arrival, ensemble, id } = this.#options;
    const { asked, abort } = arrival;
    const { model } = ensemble.aggregator;
    const body = aggregatorBody(asked, ensemble, { answers: answersOf(voted), stream: true });
    let reply: Dispatcher.ResponseData;
    try {
      reply = await this.#ask(body, signal);
      if (reply.statusCode !== 200 || !String(reply.headers["content-type"]).startsWith("text/event-stream")) {
        const got = await this.#read(model, reply);
        return got.ok ? this.#give("aggregated", got.answer, { voted, usages: [...usagesOf(voted), got.answer.usage] }) : got.error;
      }
    } catch (error) {
      return this.#unreached(model, error);
    }
    const sum = (own: Usage) => sumOf([...usagesOf(voted), own]);
    const chunks = new EnsembleChunks({ id, model: asked.model, includeUsage: asked.includeUsage, sum });
    const { "x-weir-model": by, "x-weir-decision-id": decision } = reply.headers;
    stream.begin(this.#headers("aggregated", voted, { model: String(by ?? model), decisionId: String(decision ?? "") }));
    try {
      for await (const chunk of reply.body) await stream.write(chunks.feed(chunk));
      await stream.write(chunks.flush());
    } catch {
      if (abort.signal.aborted) return this.#ended();
    }
    if (chunks.whole) {
      stream.end();
      return "aggregated";
    }
    if (chunks.broken) stream.end();
    else if (this.#timeOver.signal.aborted) stream.fail({ ...outOfTime(model), type: "timeout_error" });
    else
      stream.fail({
        status: 502,
        message: `${model} stopped before its answer was complete.`,
        type: "server_error",
        code: "engine_failed",
      });
    return "failed";
  }

  /** Sends a model's whole answer as the ensemble's. */
  #give(outcome: EnsembleOutcome, answer: LoopbackAnswer, { voted, usages }: Given): EnsembleOutcome {
    const { completion } = answer;
    const { arrival, id } = this.#options;
    const { asked, response, idHeaders } = arrival;
    const choices = Array.isArray(completion.choices) ? completion.choices.slice(0, 1) : [];
    const own = { ...completion, id, model: asked.model, choices, usage: sumOf(usages) };
    const headers = this.#headers(outcome, voted, answer);
    if (this.#stream !== null) {
      this.#stream.begin(headers);
      this.#stream.end(completionEvents(own, { includeUsage: asked.includeUsage }));
    } else if (!response.destroyed) sendJson(response, own, { headers: { ...idHeaders, ...headers } });
    return outcome;
  }

  /** @param by the call whose answer the text is. */
  #headers(outcome: EnsembleOutcome, { decision }: Voted, by: Pick<LoopbackAnswer, "model" | "decisionId">): OutgoingHttpHeaders {
    return {
      "x-weir-ensemble-outcome": outcome,
      "x-weir-ensemble-votes": decision.votes,
      "x-weir-ensemble-confidence": decision.confidence.toFixed(4),
      "x-weir-ensemble-call": this.#options.id,
      "x-weir-model": by.model,
      "x-weir-decision-id": by.decisionId,
    };
  }

  /** The request was ended before its answer was whole. */
  #ended(): EnsembleOutcome | Uncounted {
    const error = abortError(this.#options.arrival.abort.signal);
    this.#fail(error, abortHeaders(this.#options.arrival.abort.signal));
    return error.status === clientGone ? { status: clientGone } : "failed";
  }

  #fail(error: ApiError, headers: OutgoingHttpHeaders = {}): void {
    const { response, idHeaders } = this.#options.arrival;
    const outcome = isRefused(error) ? {} : { "x-weir-ensemble-outcome": "failed" satisfies EnsembleOutcome };
    const all = { ...headers, ...outcome, "x-weir-ensemble-call": this.#options.id };
    if (this.#stream !== null) this.#stream.fail(error, all);
    else if (!response.destroyed) sendError(response, error, { ...idHeaders, ...all });
  }

  /** Requests a whole answer from a model. */
  async #whole(model: string, body: object, signal: AbortSignal): Promise<Asked> {
    try {
      return await this.#read(model, await this.#ask(body, signal));
    } catch (error) {
      return { ok: false, error: this.#unreached(model, error) };
    }
  }

  #unreached(model: string, error: unknown): LoopbackFailure {
    if (this.#timeOver.signal.aborted) return outOfTime(model);
    const message = `The gateway could not call ${model}: ${reasonOf(error)}.`;
    return { message, code: "not_asked", status: 502 };
  }

  #ask(body: object, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { arrival, loopback, id } = this.#options;
    return loopback.ask({ from: arrival.request, headers: { "x-session-id": id }, body, signal, part: true });
  }

  async #read(who: string, reply: Dispatcher.ResponseData): Promise<Asked> {
    const { arrival, limits } = this.#options;
    return readLoopbackAnswer(reply, { who, mostBytes: limits.bodyBytes, grow: (bytes) => arrival.place.grow(bytes) });
  }

  /** Engine seconds since the request arrived. */
  get #seconds(): number {
    const { arrival, timeScale } = this.#options;
    return ((performance.now() - arrival.startedMs) / 1000) * timeScale;
  }
}

interface Given {
  readonly voted: Voted;
  /** Usage of all calls that were answered. */
  readonly usages: readonly Usage[];
}
