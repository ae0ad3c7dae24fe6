import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ApiError } from "./apiError";
import { type RequestScores, readRouterScores } from "./routerScores";

/** One chat completion that a client asks for. Fields the gateway has no business with stay in `body` as they came. */
export interface ChatRequest {
  /** The client's `x-request-id` where it gave a sane one. */
  readonly requestId: string;
  readonly decisionId: string;
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly messages: readonly unknown[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Estimated from the size of the body at four bytes a token; policies that need the true count ask for telemetry. */
  readonly inputTokens: number;
  readonly routerScores: RequestScores;
  /** Headers that go on to the engine. */
  readonly upstreamHeaders: Readonly<Record<string, string>>;
}

export type ParsedChat = { readonly ok: true; readonly chat: ChatRequest } | { readonly ok: false; readonly error: ApiError };

const bytesPerToken = 4;
const passedHeaders = ["authorization", "traceparent", "tracestate", "x-session-id"] as const;
const saneRequestId = /^[\x21-\x7e]{1,128}$/;

/** Reads a `/v1/chat/completions` body. Only what the gateway itself needs is checked; the engine checks the rest. */
export function parseChat(bytes: Buffer, headers: IncomingHttpHeaders): ParsedChat {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    return refuse(`The body is not valid JSON: ${error instanceof Error ? error.message : "unreadable"}.`, "invalid_json");
  }
  if (!isRecord(body)) return refuse("The body must be a JSON object.", "invalid_json");
  const { model, messages, stream, stream_options: streamOptions } = body;
  if (typeof model !== "string" || model === "")
    return refuse("`model` must name a model; GET /v1/models lists them.", "invalid_type", "model");
  if (!Array.isArray(messages) || messages.length === 0)
    return refuse("`messages` must be a list with at least one message.", "invalid_type", "messages");
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    return refuse("`stream` must be true or false.", "invalid_type", "stream");
  const routerScores = readRouterScores(headers);
  if (typeof routerScores === "string") return refuse(routerScores, "invalid_header");
  const decisionId = randomUUID();
  const asked = headers["x-request-id"];
  const requestId = typeof asked === "string" && saneRequestId.test(asked) ? asked : decisionId;
  const upstreamHeaders: Record<string, string> = { "content-type": "application/json", "x-request-id": requestId };
  for (const name of passedHeaders) {
    const value = headers[name];
    if (typeof value === "string") upstreamHeaders[name] = value;
  }
  return {
    ok: true,
    chat: {
      requestId,
      decisionId,
      model,
      body,
      messages,
      stream: stream === true,
      includeUsage: isRecord(streamOptions) && streamOptions.include_usage === true,
      inputTokens: Math.ceil(bytes.length / bytesPerToken),
      routerScores,
      upstreamHeaders,
    },
  };
}

/**
 * The body for an engine: the client's own with the engine's model name. A judged stage must be read whole before anything
 * is sent, so it is asked for without streaming, and engines refuse `stream_options` then.
 */
export function engineBody(chat: ChatRequest, model: string, { stream }: { readonly stream: boolean }): string {
  if (stream || !chat.stream) return JSON.stringify({ ...chat.body, model });
  return JSON.stringify({ ...chat.body, model, stream: false, stream_options: undefined });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(message: string, code: string, param?: string): ParsedChat {
  return { ok: false, error: { status: 400, message, type: "invalid_request_error", code, ...(param === undefined ? {} : { param }) } };
}
