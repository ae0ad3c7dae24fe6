import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { isBrokenOrFull } from "../engines/engineCall";
import { eventStreamHeaders } from "../engines/relayStream";
import { engineErrorBody, refusalOf, type StageOutcome, typeOf, type WholeReply } from "../engines/stageOutcome";
import { type ApiError, sendError } from "../http/apiError";
import type { ModelRequest } from "../http/modelRequest";
import type { ServedModel } from "../serving/servedModel";
import type { RequestJournal } from "./requestJournal";

/** Bytes of a body up to which copying it costs less than a second piece: with the headers, Node writes 16 kB from its stack. */
const mostJoined = 12 * 1024;

/** The origin of an answer. */
export interface AnsweredBy {
  readonly served: ServedModel;
  /** 0 for the first. */
  readonly stage: number;
  readonly model: string;
}

interface ClientAnswerOptions {
  readonly asked: ModelRequest;
  readonly response: ServerResponse;
  readonly journal: RequestJournal;
}

/** Answers the client of one request, with the decision in the headers. Each method returns the status. */
export class ClientAnswer {
  readonly #options: ClientAnswerOptions;

  constructor(options: ClientAnswerOptions) {
    this.#options = options;
  }

  /** The decision headers; `pendingMs` is the time so far of the engine that is still streaming. */
  headers({ served, stage, model }: AnsweredBy, { pendingMs = 0 }: { readonly pendingMs?: number } = {}): OutgoingHttpHeaders {
    return this.#options.journal.headers(served, { stage, model, pendingMs });
  }

  /** Sends an accepted answer in the form the client asked for. */
  give(by: AnsweredBy, { reply, completion }: Extract<StageOutcome, { kind: "answered" }>): number {
    const { asked, response, journal } = this.#options;
    const { text } = asked.endpoint;
    if (!asked.stream || completion === null || text === null) return this.#send(this.headers(by), reply);
    journal.firstTokenMs = performance.now();
    response.writeHead(200, { ...this.headers(by), ...eventStreamHeaders });
    response.end(text.events(completion, { includeUsage: asked.includeUsage }));
    return 200;
  }

  /**
   * Passes an engine's error on: its status, its body in the form that clients read, and what it says about sending the request again.
   * @param instead the error if it has no body and is of this status, and headers that replace the engine's.
   */
  pass(by: AnsweredBy, reply: WholeReply, instead: { readonly error?: ApiError; readonly headers?: OutgoingHttpHeaders } = {}): number {
    const error = instead.error?.status === reply.status ? instead.error : emptyRefusal(reply);
    const headers = { ...reply.retry, ...instead.headers };
    const body = engineErrorBody(reply);
    if (body === null) return this.fail(by, error, headers);
    return this.#send(Object.assign(this.headers(by), headers), { ...reply, ...body });
  }

  #send(headers: OutgoingHttpHeaders, { status, contentType, body }: WholeReply): number {
    const { response, journal } = this.#options;
    if (!isBrokenOrFull(status)) journal.firstTokenMs = performance.now();
    headers["content-type"] = contentType;
    headers["content-length"] = body.length;
    response.writeHead(status, headers);
    // A short body goes to the kernel in one piece with the headers: as a text of the same bytes, since Node joins texts only.
    if (body.length <= mostJoined) response.end(body.toString("latin1"), "latin1");
    else response.end(body);
    return status;
  }

  /** Sends the error, if no headers were sent yet. */
  fail(by: AnsweredBy, error: ApiError, headers?: OutgoingHttpHeaders): number {
    const { response, journal } = this.#options;
    journal.reason = error.message;
    if (!response.headersSent && !response.destroyed) sendError(response, error, Object.assign(this.headers(by), headers));
    return error.status;
  }
}

/** The error for an engine's refusal without a body. */
function emptyRefusal(reply: WholeReply): ApiError {
  const message = `There is no answer: ${refusalOf({ reply })} without a body.`;
  return { status: reply.status, message, type: typeOf(reply.status), code: "engine_refused" };
}
