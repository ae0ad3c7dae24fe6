import { randomUUID } from "node:crypto";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { parsedOr } from "@/server/lib/parsedOr";
import { isRecord } from "@/solver/collections/isRecord";
import { noRetry } from "../http/apiError";
import { chatErrorOf, isChatError, unreadable } from "./chatError";
import type { AnswerContext, Exchange } from "./dialect";
import { TranslatedStream } from "./translatedStream";

interface Head {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
}

/** Fields of the client's body that were accepted and change nothing. */
const ignoredHeader = "x-weir-ignored";

/**
 * Makes a response speak another API: what is written to it from now on is read as an answer of chat completions, and sent as the
 * exchange's. Streams are translated as they are written, everything else once it is whole. So queues, cascades, ensembles and errors need
 * to know of no other API.
 * @param ignored the fields of the body that change nothing, known when the answer begins.
 */
export function translateResponse(response: ServerResponse, exchange: Exchange, ignored: () => readonly string[]): void {
  const sendHead = response.writeHead.bind(response) as (status: number, headers: OutgoingHttpHeaders) => ServerResponse;
  const send = response.write.bind(response) as (text: string) => boolean;
  const end = response.end.bind(response) as (text?: string) => ServerResponse;
  let head: Head | null = null;
  let stream: TranslatedStream | null = null;
  let held: Buffer[] = [];
  const begin = (status: number, headers: OutgoingHttpHeaders = {}): ServerResponse => {
    const context = contextOf(headers);
    const names = ignored();
    const { "content-length": _, ...kept } = headers;
    const own = { ...kept, ...exchange.headers(context.requestId), ...(names.length > 0 && { [ignoredHeader]: names.join(", ") }) };
    if (status === 200 && String(headers["content-type"]).startsWith("text/event-stream")) {
      stream = new TranslatedStream(exchange.events(context));
      sendHead(status, own);
    } else {
      head = { status, headers: { ...own, ...("content-length" in headers && { "content-length": headers["content-length"] }) } };
    }
    return response;
  };
  /** Sends what is held, translated. */
  const sendWhole = ({ status, headers }: Head): void => {
    const text = Buffer.concat(held).toString("utf8");
    held = [];
    head = null;
    const whole = translated(text, status, exchange, contextOf(headers));
    sendHead(whole.status, {
      ...headers,
      ...whole.headers,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(whole.json),
    });
    if (whole.json !== "") send(whole.json);
  };
  const take = (chunk: unknown, encoding?: unknown): boolean => {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk), encoding === "latin1" ? encoding : "utf8");
    if (stream !== null) {
      const text = stream.feed(bytes);
      return text === "" ? !response.writableNeedDrain : send(text);
    }
    held.push(bytes);
    // One that is ended later must be read before that.
    if (head !== null && Number(head.headers["content-length"]) === held.reduce((sum, { length }) => sum + length, 0)) sendWhole(head);
    return true;
  };
  const finish = (chunk?: unknown, encoding?: unknown): ServerResponse => {
    if (chunk !== undefined) take(chunk, encoding);
    if (stream !== null) return end(stream.close());
    if (head !== null) sendWhole(head);
    return end();
  };
  Object.assign(response, { writeHead: begin, write: take, end: finish });
}

function contextOf(headers: OutgoingHttpHeaders): AnswerContext {
  const decision = headers["x-weir-decision-id"];
  const id = typeof decision === "string" && decision !== "" ? decision : randomUUID();
  const requestId = String(headers["x-request-id"] ?? id);
  return { answerId: id.replaceAll("-", ""), requestId, nowSeconds: Math.floor(Date.now() / 1000) };
}

interface Whole {
  readonly status: number;
  readonly json: string;
  readonly headers?: OutgoingHttpHeaders;
}

function translated(text: string, status: number, exchange: Exchange, context: AnswerContext): Whole {
  if (status !== 200) return { status, json: exchange.error(chatErrorOf(text, status), context) };
  const completion = parsedOr(text, undefined);
  const answer = isRecord(completion) ? exchange.answer(completion, context) : unreadable("The engine's answer is not a completion.");
  if (!isChatError(answer)) return { status, json: answer.json };
  return { status: answer.status ?? 502, json: exchange.error(answer, context), headers: noRetry };
}
