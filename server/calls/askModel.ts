import { type Dispatcher, request } from "undici";
import { EngineAccessError } from "@/server/contracts/engine/engineAccessError";
import { EventStreamReader, isDone } from "@/server/lib/eventStream";
import { BrokenReply, ChatReader, type ChatReply } from "./chatReply";
import type { Upstream } from "./upstream";

/** The outcome of one call. No text of prompt or answer is in a reason. */
export type CallOutcome =
  | {
      readonly kind: "answered";
      readonly text: string;
      readonly inputTokens: number | null;
      readonly outputTokens: number;
      /** It ended at the token limit. */
      readonly cut: boolean;
      /** With log probabilities, where these were asked for and are reported. */
      readonly tokens: ChatReply["tokens"];
      /** Engine seconds, like all here; null if the answer arrived whole. */
      readonly ttftSeconds: number | null;
      readonly seconds: number;
    }
  /**
   * There is no answer, or only from a process that cannot serve: this says nothing about the prompt. `mayCost`: an answer may have been
   * begun.
   */
  | { readonly kind: "down"; readonly reason: string; readonly mayCost: boolean }
  /** Asked to wait. */
  | { readonly kind: "busy"; readonly reason: string; readonly waitSeconds: number | null }
  /** It does not stream, or not this prompt: without streaming it may answer. */
  | { readonly kind: "unstreamed" }
  /** It does not report log probabilities, or not with this prompt: without the request for them it may answer. */
  | { readonly kind: "unreported" }
  /** It does not take this prompt. */
  | { readonly kind: "refused"; readonly reason: string }
  /** What came is no answer. */
  | { readonly kind: "broken"; readonly reason: string; readonly mayCost: boolean }
  /** Its time was up. */
  | { readonly kind: "timeout"; readonly reason: string; readonly mayCost: boolean }
  /** `signal` fired. */
  | { readonly kind: "aborted"; readonly mayCost: boolean };

interface Question {
  readonly upstream: Upstream;
  /** A chat request without model and stream. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  /** Whether it is asked for the log probabilities of the answer's tokens. */
  readonly logProbabilities?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Size limit of a whole answer with everything around it. */
const MOST_BYTES = 16_000_000;

/** Size limit of an error's text: enough to recognise its subject. It is not stored. */
const MOST_ERROR_BYTES = 20_000;

const MOST_WAIT_SECONDS = 60;

/** Statuses that say nothing about the prompt: no access, no such model or path, nothing behind a proxy. */
const ofTheAddress: readonly number[] = [401, 403, 404, 405, 502, 503, 504];

/** What asks to come again without saying when. */
const comeAgain: readonly number[] = [408, 425, 429];

/** Asks one upstream for one answer. Never rejects. */
export async function askModel(question: Question): Promise<CallOutcome> {
  const { upstream, signal } = question;
  const startedMs = performance.now();
  const engineSeconds = () => ((performance.now() - startedMs) / 1000) * upstream.timeScale;
  let began = false;
  try {
    const response = await request(upstream.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: bodyOf(question),
      dispatcher: upstream.dispatcher,
      signal,
    });
    // A body that is destroyed early emits an error; without a listener it would end the process.
    response.body.on("error", () => undefined);
    if (response.statusCode !== 200) return await refusal(response, question);
    began = true;
    const isStream = String(response.headers["content-type"] ?? "").includes("event-stream");
    const reader = new ChatReader();
    const read = isStream ? readStream : readWhole;
    const ttftSeconds = await read(response.body, reader, engineSeconds);
    return { kind: "answered", ...reader.reply(isStream), ttftSeconds, seconds: engineSeconds() };
  } catch (error) {
    if (signal.aborted) return { kind: "aborted", mayCost: began };
    return failure(error as Error, began);
  }
}

function bodyOf({ upstream, body, stream, logProbabilities }: Question): string {
  const { n: _, stream_options: _o, ...rest } = body;
  const delivery = stream ? { stream: true, stream_options: { include_usage: true } } : { stream: false };
  return JSON.stringify({ ...rest, ...(logProbabilities && { logprobs: true }), model: upstream.servedName, ...delivery });
}

async function* within(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new BrokenReply(`it is longer than ${MOST_BYTES} bytes`);
    yield piece;
  }
}

async function readWhole(pieces: AsyncIterable<Buffer>, reader: ChatReader): Promise<null> {
  const chunks: Buffer[] = [];
  for await (const piece of within(pieces)) chunks.push(piece);
  reader.take(Buffer.concat(chunks).toString("utf8"));
  return null;
}

/** Returns when the first token came. */
async function readStream(pieces: AsyncIterable<Buffer>, reader: ChatReader, seconds: () => number): Promise<number | null> {
  let first: number | null = null;
  let isWhole = false;
  const events = new EventStreamReader({
    onEvent: (event) => {
      if (isWhole) return;
      if (isDone(event)) isWhole = true;
      else if (reader.take(event.data)) first ??= seconds();
    },
  });
  for await (const piece of within(pieces)) {
    events.feed(piece);
    if (isWhole) return first;
  }
  events.end();
  if (isWhole) return first;
  throw new BrokenReply("the stream ended without [DONE]");
}

async function refusal({ statusCode: status, headers, body }: Dispatcher.ResponseData, question: Question): Promise<CallOutcome> {
  const text = await errorText(body);
  const reason = `answered ${status}`;
  const waitSeconds = retryAfterSeconds(headers["retry-after"]);
  if (comeAgain.includes(status) || (status === 503 && waitSeconds !== null)) return { kind: "busy", reason, waitSeconds };
  if (question.stream && (status < 500 || status === 501) && speaksOfStreaming(text)) return { kind: "unstreamed" };
  if (question.logProbabilities && (status < 500 || status === 501) && ofLogProbabilities.test(text)) return { kind: "unreported" };
  if (ofTheAddress.includes(status)) return { kind: "down", reason, mayCost: false };
  return status >= 500 ? { kind: "broken", reason, mayCost: false } : { kind: "refused", reason };
}

/**
 * Fields that request a stream, as errors name them, and refusals in so many words. Other statements about streams may be quoted from a
 * prompt.
 */
const ofStreaming: readonly RegExp[] = [
  /\bstream_options\b/,
  /["'`]stream["'`]/,
  /\bstream(ing)?( mode| responses?)? (is|are) (not|un)/i,
  /\bnot support(ed)? stream(ing)?\b/i,
];

const speaksOfStreaming = (text: string): boolean => ofStreaming.some((words) => words.test(text));

/** As errors name what requests log probabilities. */
const ofLogProbabilities = /\blog[ _-]?prob(s|abilities|ability)?\b/i;

async function errorText(body: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of body) {
    text += piece.toString("utf8");
    if (text.length > MOST_ERROR_BYTES) break;
  }
  return text;
}

/** Seconds of a requested wait, a minute at most; null if there is no readable request. */
function retryAfterSeconds(header: string | readonly string[] | undefined): number | null {
  const [text] = typeof header === "string" ? [header] : (header ?? []);
  if (text === undefined || text.trim() === "") return null;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(MOST_WAIT_SECONDS, Math.max(0, seconds));
}

/** undici's codes for an unreachable address: the request was not begun. */
const unreached: readonly string[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "reset the connection",
  EPIPE: "reset the connection",
  UND_ERR_SOCKET: "closed the connection",
  UND_ERR_CONNECT_TIMEOUT: "took no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "hung",
  UND_ERR_BODY_TIMEOUT: "hung",
  ENOTFOUND: "has no address that its name leads to",
  EAI_AGAIN: "has no address that its name leads to",
};

function failure(
  error: Error & { readonly code?: string; readonly errors?: readonly { readonly code?: string }[] },
  began: boolean,
): CallOutcome {
  if (error instanceof EngineAccessError) return { kind: "down", reason: `cannot be asked: ${error.message}`, mayCost: false };
  if (error instanceof BrokenReply) return { kind: "broken", reason: `gave no answer that can be read: ${error.message}`, mayCost: true };
  const code = error.errors?.[0]?.code ?? error.code ?? error.name;
  return { kind: "down", reason: words[code] ?? `cannot be reached (${code})`, mayCost: began || !unreached.includes(code) };
}
