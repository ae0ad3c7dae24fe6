import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createTlsServer, isPlainFromElsewhere, type TlsFiles } from "@/server/lib/tlsServer";
import { type ApiError, errorBody, isLongUnread, lingerMs, sendError } from "./apiError";
import type { GatewayLimits } from "./limits";

/** Largest interval between checks for connections with slow headers. */
const maximumLookMs = 5_000;
/** Errors of clients that disconnected in the middle of a request. */
const goneCodes: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE", "HPE_INVALID_EOF_STATE"]);

interface DataServerOptions {
  readonly limits: GatewayLimits;
  readonly onRequest: RequestListener;
  /** null: plain HTTP alone. */
  readonly tls?: GatewayTls | null;
  /** Called for input that is not an HTTP request, with the status of the answer. */
  readonly onUnreadable: (status: number) => void;
}

/** TLS of the gateway's ports. */
interface GatewayTls {
  readonly files: TlsFiles;
  readonly onProblem: (sentence: string) => void;
}

/** The HTTP server of the data port, not listening yet, with the time limits of connections outside of requests for models. */
export function dataServer({ limits, onRequest, tls = null, onUnreadable }: DataServerOptions): Server {
  const idleMs = limits.idleSeconds * 1000;
  const options = {
    keepAliveTimeout: idleMs,
    headersTimeout: limits.arrivalSeconds * 1000,
    // The request limits the time for a body; this limit applies to everything else.
    requestTimeout: 2 * limits.arrivalSeconds * 1000 + lingerMs,
    connectionsCheckingInterval: Math.min(maximumLookMs, limits.arrivalSeconds * 500),
  };
  const server = tls === null ? createServer(options) : createTlsServer({ ...tls, options });
  server.maxConnections = limits.connections;
  // Longer than any silence of a request that is being served.
  server.setTimeout((limits.requestSeconds + limits.clientStallSeconds) * 1000);
  const answer = tls === null ? onRequest : overTls(onRequest);
  server.on("request", (request, response) => {
    const { socket } = request;
    // After an earlier long silence the socket has the timeout of an idle connection.
    if (socket.timeout !== server.timeout) socket.setTimeout(server.timeout);
    boundUnread(request, response);
    answer(request, response);
  });
  server.on("checkContinue", (request, response) => {
    // A client that asks first need not send what would be refused.
    if (Number(request.headers["content-length"] ?? 0) <= limits.bodyBytes) response.writeContinue();
    server.emit("request", request, response);
  });
  server.on("clientError", (error, socket) => {
    const refusal = unreadable(error, socket);
    if (refusal !== null) {
      answerSocket(socket, refusal);
      onUnreadable(refusal.status);
    } else if (socket instanceof Socket && !socket.destroyed) socket.setTimeout(idleMs);
  });
  return server;
}

/** With TLS the ports answer plain HTTP to this machine's own programs only, such as the studio. */
export const overTls =
  (onRequest: RequestListener): RequestListener =>
  (request, response) => {
    if (isPlainFromElsewhere(request)) sendError(response, plainText, { connection: "close" });
    else onRequest(request, response);
  };

const plainText: ApiError = {
  status: 403,
  message: "This gateway answers other machines over TLS only: use https.",
  type: "invalid_request_error",
  code: "tls_required",
};

/**
 * Reads no more of a body that is answered already, unless it is short. Its client has some time to read the answer, which a reset could cost
 * it, and is disconnected.
 */
function boundUnread(request: IncomingMessage, response: ServerResponse): void {
  response.on("finish", () => {
    if (request.complete) return;
    const { socket } = request;
    if (!isLongUnread(request)) {
      request.resume();
      return;
    }
    // After the server itself has begun to read the rest.
    setImmediate(() => {
      if (request.complete) return;
      socket.pause();
      setTimeout(() => socket.destroy(), lingerMs);
    });
  });
}

/** The error for input that is not an HTTP request or came too slowly; null if the client is gone. */
function unreadable({ code }: NodeJS.ErrnoException, socket: Duplex): ApiError | null {
  if (!socket.writable || goneCodes.has(code)) {
    socket.destroy();
    return null;
  }
  // Opened for later use, or with a request that is not read yet: closed like one that is idle after an answer.
  if (socket instanceof Socket && socket.bytesRead === 0) return null;
  const type = "invalid_request_error";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return { status: 408, message: "The request took longer to arrive than the gateway allows.", type, code: "slow_request" };
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return { status: 431, message: "The headers are longer than 16 kB, this gateway's limit.", type, code: "headers_too_large" };
  }
  return { status: 400, message: "This is not an HTTP request.", type, code: "bad_request" };
}

/** Answers on a connection that carries no request yet, and ends it. */
export function answerSocket(socket: Duplex, error: ApiError, headers: Readonly<Record<string, string>> = {}): Duplex {
  const body = errorBody(error);
  const lines = Object.entries({
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...headers,
    connection: "close",
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${head}\r\n${body}`);
}
