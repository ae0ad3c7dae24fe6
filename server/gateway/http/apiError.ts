import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type FenceRefusal, fenceRefusal, isForeignBody } from "@/server/contracts/http/browserFence";
import { shownName } from "./clientNames";

/** An error as the OpenAI API reports it, with its HTTP status. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly type:
    | "invalid_request_error"
    | "not_found_error"
    | "authentication_error"
    | "permission_error"
    | "rate_limit_error"
    | "server_error"
    | "timeout_error";
  readonly param?: string;
  readonly code: string;
}

/** The body of an error: `{"error":{"message","type","param","code"}}`. */
export function errorBody({ message, type, param, code }: ApiError): string {
  return JSON.stringify({ error: { message, type, param: param ?? null, code } });
}

/**
 * The official clients of OpenAI and Anthropic send a request that was answered 408, 409, 429 or 5xx twice more by default. They obey
 * `x-should-retry` before the status, and sleep as long as `retry-after` says: those for TypeScript without a bound, those for Python up to
 * 60 s.
 */
type RetryHeaders = Partial<Record<"retry-after" | "x-should-retry", string>>;

/** Says that the same request fails again: because of the request, or because the gateway has used up its own attempts. */
export const noRetry = { "x-should-retry": "false" } as const satisfies RetryHeaders;

/** Says when the same request may succeed. @param seconds whole and at least 1. */
export const retryAfter = (seconds: number): RetryHeaders => ({ "retry-after": String(seconds) });

/** Seconds after which a gateway that is starting has its first configuration: the studio sends it within a few seconds. */
export const startingRetrySeconds = 2;

/** Seconds after which another gateway answers in place of one that shuts down. */
export const drainingRetrySeconds = 1;

/** The error for a request that comes while the gateway finishes those before it. */
export const shuttingDown: ApiError = {
  status: 503,
  message: "The gateway is shutting down.",
  type: "server_error",
  code: "shutting_down",
};

/**
 * If a connection is closed while its client still writes, the client is reset and loses the answer with the reason. So the answer is sent
 * whole first, and the connection is closed after the client has had time to read it.
 */
export const lingerMs = 500;

/** Length of an answered body that is still read, so that its connection serves further requests. */
const mostUnreadBytes = 256 * 1024;

/** True while a body is not read to its end and too long to be read after its answer. */
export function isLongUnread({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const chunkedBytes = headers["transfer-encoding"] === undefined ? 0 : Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? chunkedBytes) > mostUnreadBytes;
}

/**
 * Answers with the error and ends the response. A `connection: close` in the headers takes effect a moment later. A request whose long body
 * is not read gets that header too: without it, its client would send the next request on a connection that is about to be closed.
 */
export function sendError(response: ServerResponse, error: ApiError, headers: OutgoingHttpHeaders = {}): void {
  const body = errorBody(error);
  const close = headers.connection === "close" || isLongUnread(response.req);
  const all = close ? { ...headers, connection: "close" } : headers;
  response.writeHead(error.status, { ...all, "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  if (!close) {
    response.end(body);
    return;
  }
  response.write(body);
  setTimeout(() => response.end(), lingerMs);
}

/** Answers with a JSON document; ends the response. */
export function sendJson(response: ServerResponse, value: unknown, options?: JsonOptions): void {
  sendJsonText(response, JSON.stringify(value), options);
}

/** As `sendJson`, for a document that is already JSON. */
export function sendJsonText(response: ServerResponse, body: string, { status = 200, headers = {} }: JsonOptions = {}): void {
  response.writeHead(status, { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

interface JsonOptions {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
}

/** The error for a request that the current state does not allow. */
export function conflict(message: string): ApiError {
  return { status: 409, message, type: "invalid_request_error", code: "conflict" };
}

/** The error for ending something that does not exist. */
export function nothingToEnd(message: string): ApiError {
  return { status: 404, message, type: "not_found_error", code: "nothing_to_end" };
}

/** The error for an invalid document. */
export function badRequest(message: string): ApiError {
  return { status: 400, message, type: "invalid_request_error", code: "invalid_value" };
}

/**
 * The error for a request that a browser may make for a page of another origin; null for any other.
 * @param hosts names under which clients may know the gateway, in small letters, beside its addresses.
 */
export function foreignError(headers: IncomingHttpHeaders, hosts: ReadonlySet<string>): ApiError | null {
  const refusal = fenceRefusal(headers, hosts);
  if (refusal !== null) return fenceErrors[refusal](headers);
  return isForeignBody(headers) ? wrongType : null;
}

const fenceErrors: Readonly<Record<FenceRefusal, (headers: IncomingHttpHeaders) => ApiError>> = {
  "unknown-host": ({ host }) => ({
    status: 421,
    message: `The gateway is not known as ${JSON.stringify(shownName(host ?? ""))}: use its address, or name the host in WEIR_GATEWAY_HOSTS.`,
    type: "invalid_request_error",
    code: "unknown_host",
  }),
  "other-origin": () => ({
    status: 403,
    message: "The gateway takes no requests that a browser makes for a page of another origin.",
    type: "invalid_request_error",
    code: "other_origin",
  }),
};

const wrongType: ApiError = {
  status: 415,
  message: "The body must be JSON, with the header content-type: application/json.",
  type: "invalid_request_error",
  code: "unsupported_media_type",
};
