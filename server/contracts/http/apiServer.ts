import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type FenceRefusal, fenceRefusal } from "./browserFence";
import { type JsonLimits, JsonScan } from "./jsonScan";

/** Longer than clients keep idle connections, so that none is closed while a request is being sent on it. */
const KEEP_ALIVE_MS = 75_000;

/** Outcomes and prompts have many values; no body is deep. */
const BODY_JSON: JsonLimits = { depth: 128, nodes: Number.POSITIVE_INFINITY, commas: Number.POSITIVE_INFINITY };

/** An error as vLLM and the OpenAI API report it. */
export interface ApiError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly param?: string;
}

export const errorBody = ({ status, type, message, param }: ApiError): string =>
  JSON.stringify({ error: { message, type, param: param ?? null, code: status } });

/** Answers with JSON text or a value that becomes it; ends the response. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

export function sendError(response: ServerResponse, error: ApiError): void {
  // The unread rest of a body that is too large would be parsed as the connection's next request.
  if (error.status === 413) response.setHeader("connection", "close");
  sendJson(response, error.status, errorBody(error));
}

/** The error for requests that wait when a server stops. */
export const STOPPED: ApiError = {
  status: 503,
  type: "ServiceUnavailableError",
  message: "The engine was stopped before the answer was complete.",
};

export const notFound = (request: IncomingMessage): ApiError => ({
  status: 404,
  type: "NotFoundError",
  message: `Nothing is served at ${request.method} ${request.url}`,
});

/** The path of a request without its query. */
export const pathOf = (request: IncomingMessage): string => (request.url ?? "/").split("?", 1)[0] ?? "/";

const FENCED: Readonly<Record<FenceRefusal, string>> = {
  "unknown-host": "This server is known by its address and as localhost only",
  "other-origin": "This server takes no requests that a browser makes for a page of another origin",
};

/** A handler that is not called for requests which a browser may make for a page of another origin. */
export const fenced =
  (handler: RequestListener): RequestListener =>
  (request, response) => {
    const refusal = fenceRefusal(request.headers, new Set());
    if (refusal === null) handler(request, response);
    else {
      request.resume();
      sendError(response, { status: 403, type: "PermissionDeniedError", message: FENCED[refusal] });
    }
  };

export type JsonBody = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: ApiError };

/** Reads a request's body as JSON, up to `maxBytes`. Rejects only if the client disconnects meanwhile. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<JsonBody> {
  const chunks: Buffer[] = [];
  const scan = new JsonScan(BODY_JSON);
  let bytes = 0;
  // Leaving the loop early must not destroy the request: its connection carries the answer.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      return { ok: false, error: { status: 413, type: "BadRequestError", message: `The body is larger than ${maxBytes} bytes` } };
    }
    if (scan.push(chunk) !== null) {
      request.resume();
      const message = `The body nests lists and objects more than ${BODY_JSON.depth} deep`;
      return { ok: false, error: { status: 400, type: "BadRequestError", message } };
    }
    chunks.push(chunk);
  }
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
  } catch {
    return { ok: false, error: { status: 400, type: "BadRequestError", message: "The body is not valid JSON" } };
  }
}

/** The unanswered requests of each listening server. */
const openResponses = new WeakMap<Server, ReadonlySet<ServerResponse>>();

function trackResponses(server: Server): ReadonlySet<ServerResponse> {
  const open = new Set<ServerResponse>();
  server.on("request", (_, response: ServerResponse) => {
    open.add(response);
    response.once("close", () => open.delete(response));
  });
  return open;
}

/**
 * Listens on a port, of the loopback interface by default.
 *
 * @returns the port, or undefined when it is taken.
 */
export function listen(server: Server, port: number, host = "127.0.0.1"): Promise<number | undefined> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  if (!openResponses.has(server)) openResponses.set(server, trackResponses(server));
  return new Promise((resolve, reject) => {
    const onListening = (): void => {
      server.removeListener("error", onError);
      resolve((server.address() as AddressInfo).port);
    };
    const onError = (error: NodeJS.ErrnoException): void => {
      // The server may try another port: listeners for this one must not accumulate.
      server.removeListener("listening", onListening);
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    };
    server.once("error", onError);
    server.once("listening", onListening);
    server.listen(port, host);
  });
}

/** Listens on the first free port from `base` up that `skip` does not hold. */
export async function listenFrom(server: Server, base: number, skip: ReadonlySet<number>): Promise<number> {
  for (let port = base; port <= 65535; port++) {
    if (skip.has(port)) continue;
    const taken = await listen(server, port);
    if (taken !== undefined) return taken;
  }
  throw new Error(`No port from ${base} up is free`);
}

/** Stops listening, answers open requests with an error, and closes the connections: no request ends without a reply. */
export function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const response of openResponses.get(server) ?? []) {
      if (!response.headersSent) sendError(response, STOPPED);
      else if (!response.writableEnded) response.end(`data: ${errorBody(STOPPED)}\n\n`);
    }
    server.closeAllConnections();
  });
}
