import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ApiError } from "./apiError";
import type { Endpoint } from "./endpoint";
import { isRecord } from "./isRecord";
import { type RequestScores, readRouterScores } from "./routerScores";

/** By which a request is known from its first byte on. */
export interface RequestIds {
  /** The client's `x-request-id` where it gave a sane one. */
  readonly requestId: string;
  readonly decisionId: string;
}

/** What a client asks of a model. Fields the gateway has no business with stay in `body` as they came. */
export interface ModelRequest extends RequestIds {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** The session it belongs to where the client names one, else its own. */
  readonly programId: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Estimated from the size of the body at four bytes a token; policies that need the true count ask for telemetry. */
  readonly inputTokens: number;
  readonly routerScores: RequestScores;
  /** Headers that go on to the engine. */
  readonly upstreamHeaders: Readonly<Record<string, string>>;
}

export type ParsedRequest = { readonly ok: true; readonly asked: ModelRequest } | { readonly ok: false; readonly error: ApiError };

const bytesPerToken = 4;
const passedHeaders = ["authorization", "traceparent", "tracestate", "x-session-id"] as const;
/** Where clients in use write the session a request belongs to; the first that is there counts. */
const sessionHeaders = ["x-session-id", "x-conversation-id", "x-claude-code-session-id", "x-dynamo-session-id"] as const;
const saneId = /^[\x21-\x7e]{1,128}$/;

/** The ids of a request that has just come. */
export function requestIds(headers: IncomingHttpHeaders): RequestIds {
  const decisionId = randomUUID();
  return { requestId: saneHeader(headers, "x-request-id") ?? decisionId, decisionId };
}

interface Arrived {
  readonly ids: RequestIds;
  readonly endpoint: Endpoint;
  readonly headers: IncomingHttpHeaders;
}

/** Reads a body. Only what the gateway itself needs is checked; the engine checks the rest. */
export function parseRequest(bytes: Buffer, { ids, endpoint, headers }: Arrived): ParsedRequest {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    return refuse(`The body is not valid JSON: ${error instanceof Error ? error.message : "unreadable"}.`, "invalid_json");
  }
  if (!isRecord(body)) return refuse("The body must be a JSON object.", "invalid_json");
  const { model, stream, stream_options: streamOptions } = body;
  if (typeof model !== "string" || model === "")
    return refuse("`model` must name a model; GET /v1/models lists them.", "invalid_type", "model");
  const refusal = endpoint.refusal(body);
  if (refusal !== null) return refuse(refusal.message, "invalid_type", refusal.param);
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    return refuse("`stream` must be true or false.", "invalid_type", "stream");
  const routerScores = readRouterScores(headers);
  if (typeof routerScores === "string") return refuse(routerScores, "invalid_header");
  const upstreamHeaders: Record<string, string> = { "content-type": "application/json", "x-request-id": ids.requestId };
  for (const name of passedHeaders) {
    const value = headers[name];
    if (typeof value === "string") upstreamHeaders[name] = value;
  }
  return {
    ok: true,
    asked: {
      ...ids,
      endpoint,
      model,
      programId: sessionHeaders.map((name) => saneHeader(headers, name)).find((id) => id !== undefined) ?? ids.decisionId,
      body,
      stream: endpoint.text !== null && stream === true,
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
export function engineBody(asked: ModelRequest, model: string, { stream }: { readonly stream: boolean }): string {
  if (stream || !asked.stream) return JSON.stringify({ ...asked.body, model });
  return JSON.stringify({ ...asked.body, model, stream: false, stream_options: undefined });
}

function saneHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && saneId.test(value) ? value : undefined;
}

function refuse(message: string, code: string, param?: string): ParsedRequest {
  return { ok: false, error: { status: 400, message, type: "invalid_request_error", code, ...(param === undefined ? {} : { param }) } };
}
