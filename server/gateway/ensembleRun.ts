import type { OutgoingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { EnsembleCall, EnsembleOutcome } from "@/server/contracts/gatewayEnsembles";
import type { Ensemble } from "@/solver/ensemble/ensembleDocument";
import { type ApiError, sendError, sendJson } from "./apiError";
import { completionEvents } from "./completionEvents";
import { clientGone, endedError } from "./endedError";
import type { FinishedCall } from "./ensembleBook";
import type { EnsembleArrival } from "./ensembleCalls";
import { EnsembleChunks } from "./ensembleChunks";
import { aggregatorBody, expertBody } from "./ensembleRequest";
import { EnsembleStream } from "./ensembleStream";
import { type Asked, type ExpertState, type Voted, Voting } from "./ensembleVotes";
import type { GatewayLimits } from "./limits";
import { type OwnAnswer, type OwnFailure, type OwnPort, readOwnAnswer } from "./ownPort";
import type { Usage } from "./usage";

/** Of a vote, in what is told of a request. */
const shownVoteCharacters = 80;

interface EnsembleRunOptions {
  readonly arrival: EnsembleArrival;
  readonly id: string;
  readonly ensemble: Ensemble;
  readonly experts: readonly string[];
  readonly ownPort: OwnPort;
  readonly limits: GatewayLimits;
  readonly draining: () => boolean;
  /** Engine seconds in one of the wall. */
  readonly timeScale: number;
  /** The threshold as it is at that moment. */
  readonly tau: () => number;
}

/** One request of an ensemble: its experts are asked side by side, the gate decides about their votes, the aggregator is asked where it must be. */
export class EnsembleRun {
  readonly #options: EnsembleRunOptions;
  readonly #voting: Voting;
  readonly #stream: EnsembleStream | null;

  constructor(options: EnsembleRunOptions) {
    this.#options = options;
    const { arrival, ensemble, experts, tau, timeScale, limits } = options;
    const { asked, response, abort, idHeaders } = arrival;
    this.#stream = asked.stream ? new EnsembleStream(response, { limits, headers: idHeaders }) : null;
    this.#voting = new Voting({
      ...{ ensemble, experts, tau, signal: abort.signal },
      deadlineMs: (ensemble.deadlineSeconds / timeScale) * 1000,
      ask: (expert, signal) => this.#whole(expert, expertBody(asked, expert, ensemble), signal),
    });
  }

  /** Has the gate look again, as when its threshold has changed. */
  look(): void {
    this.#voting.look();
  }

  /** Answers the client, and says how; null where that went away. Never rejects for what engines or client do. */
  async answer(): Promise<FinishedCall | null> {
    const { signal } = this.#options.arrival.abort;
    const voted = await this.#voting.decided;
    const decidedSeconds = this.#seconds;
    const outcome = signal.aborted ? this.#ended() : await this.#answerBy(voted);
    return outcome === null ? null : this.#finished(voted, outcome, decidedSeconds);
  }

  async #answerBy(voted: Voted): Promise<EnsembleOutcome | null> {
    const { decision } = voted;
    const leading = answerOf(voted, decision.leading?.expert);
    if (decision.kind === "skip" && leading !== undefined) return this.#give("skipped", leading, { voted, usages: usagesOf(voted) });
    const aggregated = await (this.#stream === null ? this.#aggregate(voted) : this.#relay(voted, this.#stream));
    if (typeof aggregated === "string" || aggregated === null) return aggregated;
    if (this.#options.arrival.abort.signal.aborted) return this.#ended();
    if (leading !== undefined) return this.#give("aggregator-failed", leading, { voted, usages: usagesOf(voted) });
    this.#fail(nobodyAnswered(voted, this.#options.ensemble, aggregated), retryAfter([aggregated, ...failuresOf(voted)]));
    return "failed";
  }

  /** Asks the aggregator for a whole answer, and gives it. @returns the outcome, or why there is no answer. */
  async #aggregate(voted: Voted): Promise<EnsembleOutcome | OwnFailure> {
    const { arrival, ensemble, draining } = this.#options;
    if (draining()) return shutDown;
    const body = aggregatorBody(arrival.asked, ensemble, { answers: answersOf(voted), stream: false });
    const got = await this.#whole(ensemble.aggregator.model, body, arrival.abort.signal);
    if (!got.ok) return got.error;
    return this.#give("aggregated", got.answer, { voted, usages: [...usagesOf(voted), got.answer.usage] });
  }

  /** As `#aggregate`, with the aggregator's answer passed on as it is written. */
  async #relay(voted: Voted, stream: EnsembleStream): Promise<EnsembleOutcome | OwnFailure | null> {
    const { arrival, ensemble, draining, id } = this.#options;
    const { asked, abort } = arrival;
    if (draining()) return shutDown;
    const { model } = ensemble.aggregator;
    const body = aggregatorBody(asked, ensemble, { answers: answersOf(voted), stream: true });
    let reply: Dispatcher.ResponseData;
    try {
      reply = await this.#ask(body, abort.signal);
    } catch (error) {
      return unreached(model, error);
    }
    if (reply.statusCode !== 200 || !String(reply.headers["content-type"]).startsWith("text/event-stream")) {
      const got = await this.#read(model, reply);
      return got.ok ? this.#give("aggregated", got.answer, { voted, usages: [...usagesOf(voted), got.answer.usage] }) : got.error;
    }
    const sum = (own: Usage): object => sumOf([...usagesOf(voted), own]);
    const chunks = new EnsembleChunks({ id, model: asked.model, includeUsage: asked.includeUsage, sum });
    stream.begin(this.#headers("aggregated", voted, String(reply.headers["x-weir-model"] ?? model)));
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
    else stream.fail({ status: 502, message: `${model} broke off its answer.`, type: "server_error", code: "engine_failed" });
    return "failed";
  }

  /** Gives a model's whole answer as the ensemble's. */
  #give(outcome: EnsembleOutcome, { completion, model }: OwnAnswer, { voted, usages }: Given): EnsembleOutcome {
    const { arrival, id } = this.#options;
    const { asked, response, idHeaders } = arrival;
    const choices = Array.isArray(completion.choices) ? completion.choices.slice(0, 1) : [];
    const own = { ...completion, id, model: asked.model, choices, usage: sumOf(usages) };
    const headers = this.#headers(outcome, voted, model);
    if (this.#stream !== null) {
      this.#stream.begin(headers);
      this.#stream.end(completionEvents(own, { includeUsage: asked.includeUsage }));
    } else if (!response.destroyed) sendJson(response, own, { headers: { ...idHeaders, ...headers } });
    return outcome;
  }

  #headers(outcome: EnsembleOutcome, { decision }: Voted, model: string): OutgoingHttpHeaders {
    return {
      "x-weir-ensemble-outcome": outcome,
      "x-weir-ensemble-votes": decision.votes,
      "x-weir-ensemble-confidence": decision.confidence.toFixed(4),
      "x-weir-ensemble-call": this.#options.id,
      "x-weir-model": model,
    };
  }

  /** The request was ended before its answer was whole. */
  #ended(): EnsembleOutcome | null {
    const error = endedError(this.#options.arrival.abort.signal);
    this.#fail(error);
    return error.status === clientGone ? null : "failed";
  }

  #fail(error: ApiError, headers: OutgoingHttpHeaders = {}): void {
    const { response, idHeaders } = this.#options.arrival;
    const all = { ...headers, "x-weir-ensemble-outcome": "failed", "x-weir-ensemble-call": this.#options.id };
    if (this.#stream !== null) this.#stream.fail(error, all);
    else if (!response.destroyed) sendError(response, error, { ...idHeaders, ...all });
  }

  /** Asks a model for a whole answer. */
  async #whole(model: string, body: object, signal: AbortSignal): Promise<Asked> {
    try {
      return await this.#read(model, await this.#ask(body, signal));
    } catch (error) {
      return { ok: false, error: unreached(model, error) };
    }
  }

  #ask(body: object, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { arrival, ownPort, id } = this.#options;
    return ownPort.ask({ from: arrival.request, headers: { "x-session-id": id }, body, signal, part: true });
  }

  async #read(who: string, reply: Dispatcher.ResponseData): Promise<Asked> {
    const { arrival, limits } = this.#options;
    return readOwnAnswer(reply, { who, mostBytes: limits.bodyBytes, grow: (bytes) => arrival.place.grow(bytes) });
  }

  #finished({ decision, tau, experts, atDeadline, belowQuorum }: Voted, outcome: EnsembleOutcome, decidedSeconds: number): FinishedCall {
    const { id, timeScale } = this.#options;
    const told = experts.map((expert): EnsembleCall["experts"][number] => {
      const answered = "answer" in expert;
      return {
        ...{ model: expert.model, state: expert.state },
        vote: answered && expert.vote !== null ? shownVote(expert.vote) : null,
        seconds: "ms" in expert ? (expert.ms / 1000) * timeScale : null,
        outputTokens: answered ? expert.answer.usage.outputTokens : null,
      };
    });
    const leads = (expert: ExpertState): boolean => "answer" in expert && expert.vote !== null && expert.vote === decision.leading?.vote;
    return {
      call: {
        ...{ id, atMs: Date.now(), outcome, tau, confidence: decision.confidence, votes: decision.votes, experts: told },
        ...{ decidedSeconds, seconds: this.#seconds },
      },
      ...{ atDeadline, belowQuorum },
      majority: new Set(experts.filter(leads).map(({ model }) => model)),
    };
  }

  /** Engine seconds since the request came. */
  get #seconds(): number {
    const { arrival, timeScale } = this.#options;
    return ((performance.now() - arrival.startedMs) / 1000) * timeScale;
  }
}

interface Given {
  readonly voted: Voted;
  /** Of all calls that were answered. */
  readonly usages: readonly Usage[];
}

const answerOf = ({ experts }: Voted, expert: string | undefined): OwnAnswer | undefined =>
  experts.flatMap((one) => ("answer" in one && one.model === expert ? [one.answer] : []))[0];

const answersOf = ({ experts }: Voted): readonly { readonly text: string }[] =>
  experts.flatMap((expert) => ("answer" in expert ? [{ text: expert.answer.output }] : []));

const usagesOf = ({ experts }: Voted): readonly Usage[] => experts.flatMap((expert) => ("answer" in expert ? [expert.answer.usage] : []));

const failuresOf = ({ experts }: Voted): readonly OwnFailure[] => experts.flatMap((expert) => ("error" in expert ? [expert.error] : []));

function sumOf(usages: readonly Usage[]) {
  const sum = (tokens: (usage: Usage) => number | null): number => usages.reduce((all, usage) => all + (tokens(usage) ?? 0), 0);
  const [input, output] = [sum(({ inputTokens }) => inputTokens), sum(({ outputTokens }) => outputTokens)];
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** A copy of its own: a slice of a string keeps the whole of it in memory. */
const shownVote = (vote: string): string =>
  vote.length <= shownVoteCharacters ? vote : Buffer.from(vote.slice(0, shownVoteCharacters)).toString();

const shutDown: OwnFailure = { message: "The gateway is shutting down and asks for nothing new.", code: "shutting_down", status: 503 };

function unreached(model: string, error: unknown): OwnFailure {
  const message = `The gateway could not ask for ${model}: ${error instanceof Error ? error.message : String(error)}.`;
  return { message, code: "not_asked", status: 502 };
}

/** Names each model and what it said instead of an answer. */
function nobodyAnswered({ experts }: Voted, { name, aggregator }: Ensemble, failure: OwnFailure): ApiError {
  const said = experts.map((expert) => {
    if (expert.state === "late") return `${expert.model} did not answer in time`;
    return "error" in expert ? `${expert.model}: ${expert.error.message}` : `${expert.model} gave no vote`;
  });
  const message = `The ensemble ${name} has no answer. ${said.join("; ")}; the aggregator ${aggregator.model}: ${failure.message}`;
  return { status: 502, message, type: "server_error", code: "ensemble_failed" };
}

/** The longest that any of them asks to wait. */
function retryAfter(failures: readonly OwnFailure[]): OutgoingHttpHeaders {
  const seconds = failures.flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []);
  return seconds.length === 0 ? {} : { "retry-after": String(Math.max(...seconds)) };
}
