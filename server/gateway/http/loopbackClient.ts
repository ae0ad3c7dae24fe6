import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Dispatcher, Pool } from "undici";
import { parsedOr } from "@/server/lib/parsedOr";
import { isRecord } from "@/solver/collections/isRecord";
import { chatAnswer } from "@/solver/judging/judgeCall";
import { noRetry } from "./apiError";
import { bodyMemoryExhausted } from "./bodyMemoryBudget";
import { apiKeyHeader } from "./callers";
import { chatEndpoint } from "./chatEndpoint";
import { type Usage, usageOf } from "./usage";

/** Headers of a client's request that every resulting request of the gateway to itself carries. */
const passedHeaders = ["authorization", apiKeyHeader, "traceparent", "tracestate", "x-gateway-inference-objective"] as const;
/** Carries a secret of the process, by which the gateway recognizes its own requests, and the parts of one that was already admitted. */
const partHeader = "x-weir-part";

/** A request of the gateway to its own chat endpoint. */
export interface LoopbackCall {
  /** The client's request on whose behalf it is made. */
  readonly from: IncomingMessage;
  /** Added to the headers that are passed on. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly signal: AbortSignal;
  /** Part of a request that was already admitted: it does not count against its key's rate, and is not captured again. */
  readonly part?: boolean;
}

/** Why a loopback request was not answered, in the form a client would see. */
export interface LoopbackFailure {
  readonly message: string;
  readonly code: string;
  readonly status: number;
  readonly retryAfterSeconds?: number;
  /** The gateway has used up its attempts: the same request would fail again. */
  readonly isFinal?: boolean;
}

export interface LoopbackAnswer {
  /** Whole, as received from the engine. */
  readonly completion: Readonly<Record<string, unknown>>;
  /** The first choice as text. */
  readonly output: string;
  readonly model: string;
  readonly decisionId: string;
  readonly usage: Usage;
}

interface Reading {
  /** The sender's name in error messages. */
  readonly who: string;
  /** Largest answer; a longer one counts as failed. */
  readonly mostBytes: number;
  /** Reserves memory for the stored answer; false if there is none. */
  readonly grow: (bytes: number) => boolean;
}

/** Connections that may wait to be accepted: an ensemble opens as many at once as it has experts. */
const backlog = 4096;

/** Copies of an answer in memory: the stored one, and those in the texts made from it. */
const copies = 3;

interface Own {
  readonly server: Server;
  readonly pool: Pool;
}

/**
 * The gateway as a client of itself: its requests are admitted, queued, retried and recorded like any other. It uses a free port of this
 * machine, open from the first request until the gateway ends: requests that were accepted before shutdown still use it when the data port
 * is closed.
 */
export class LoopbackClient {
  readonly #secret = randomUUID();
  /** The secret of requests that count as those of clients. */
  readonly #counted = randomUUID();
  readonly #serverOf: () => Server;
  #own: Promise<Own> | null = null;

  /** @param serverOf makes the server that answers, as the data port does; it does not listen yet. */
  constructor(serverOf: () => Server) {
    this.#serverOf = serverOf;
  }

  /** Whether a request is part of one that was already accepted. */
  isPart(headers: IncomingHttpHeaders): boolean {
    return headers[partHeader] === this.#secret;
  }

  /** Whether a request comes from the gateway itself, which does not send it again if it fails. */
  isOwn(headers: IncomingHttpHeaders): boolean {
    return this.isPart(headers) || headers[partHeader] === this.#counted;
  }

  /** Rejects as undici does if there is no answer, or if the signal has fired. */
  async ask({ from, headers, body, signal, part = false }: LoopbackCall): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted();
    this.#own ??= opened(this.#serverOf()).catch((error: unknown) => {
      this.#own = null;
      throw error;
    });
    const { pool } = await this.#own;
    const passed = passedHeaders.flatMap((header) => {
      const value = from.headers[header];
      return typeof value === "string" ? [[header, value] as const] : [];
    });
    const own = { "content-type": "application/json", ...headers, [partHeader]: part ? this.#secret : this.#counted };
    return pool.request({
      method: "POST",
      path: chatEndpoint.path,
      headers: { ...Object.fromEntries(passed), ...own },
      body: JSON.stringify(body),
      signal,
    });
  }

  /** Closes every connection; no calls follow. */
  async close(): Promise<void> {
    if (this.#own === null) return;
    const { server, pool } = await this.#own;
    await pool.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function opened(server: Server): Promise<Own> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: 0, host: "127.0.0.1", backlog }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { server, pool: new Pool(`http://127.0.0.1:${port}`, { connections: null, headersTimeout: 0, bodyTimeout: 0 }) };
}

/** Reads a whole answer. Rejects as undici does if it breaks off. */
export async function readLoopbackAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { who, mostBytes, grow }: Reading,
): Promise<{ readonly ok: true; readonly answer: LoopbackAnswer } | { readonly ok: false; readonly error: LoopbackFailure }> {
  const failed = (message: string, code: string) => ({ ok: false as const, error: { message, code, status: 502 } });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes) return failed(`The answer of ${who} is longer than ${mostBytes} bytes, the limit.`, "answer_too_long");
    if (!grow(copies * chunk.length)) return { ok: false, error: { ...bodyMemoryExhausted, retryAfterSeconds: 1 } };
    chunks.push(chunk);
  }
  const completion = parsedOr(Buffer.concat(chunks).toString("utf8"), null);
  if (statusCode !== 200) return { ok: false, error: refusalOf(completion, who, { statusCode, headers }) };
  const output = chatAnswer(completion);
  if (output === null || !isRecord(completion)) return failed(`The engine's answer for ${who} has no choice.`, "no_answer");
  const model = String(headers["x-weir-model"] ?? "");
  const decisionId = String(headers["x-weir-decision-id"] ?? "");
  return { ok: true, answer: { completion, output, model, decisionId, usage: usageOf(completion) } };
}

/** The error that a client would get. */
function refusalOf(
  answer: unknown,
  who: string,
  { statusCode, headers }: Pick<Dispatcher.ResponseData, "statusCode" | "headers">,
): LoopbackFailure {
  const error = isRecord(answer) && isRecord(answer.error) ? answer.error : {};
  const message = typeof error.message === "string" ? error.message : `The request for ${who} was answered with ${statusCode}.`;
  const code = typeof error.code === "string" ? error.code : "request_failed";
  const retryAfterSeconds = Number(headers["retry-after"]);
  const isFinal = headers["x-should-retry"] === noRetry["x-should-retry"];
  return { message, code, status: statusCode, isFinal, ...(Number.isInteger(retryAfterSeconds) ? { retryAfterSeconds } : {}) };
}
