import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Decision } from "@/server/contracts/gatewayAdmin";
import { admit } from "./admission";
import { type ApiError, sendError } from "./apiError";
import { parseChat } from "./chatRequest";
import { ChatRun } from "./chatRun";
import { type EndReason, endedError } from "./endedError";
import type { GatewayLimits } from "./limits";
import { readBody } from "./readBody";
import { RequestJournal } from "./requestJournal";
import type { Serving } from "./serving";

export interface ChatService {
  readonly serving: Serving;
  readonly limits: GatewayLimits;
  readonly draining: () => boolean;
  /** One for every request whose response is not all out; fired to end it before that. */
  readonly open: Set<AbortController>;
  /** Told of every request turned away at the door; `served` null when it named nothing that is served. */
  readonly onRefused: (served: string | null, status: number) => void;
  /** Told of those among them for which there was no room or no engine. */
  readonly onShed: (decision: Omit<Decision, "sequence">) => void;
  /** Told of every request that was taken in, when it is finished. */
  readonly onDecision: (served: string, decision: Omit<Decision, "sequence">) => void;
}

/** When to ask again after a shed request: long enough to empty a part of a full queue at the rates a queue is made for. */
const retryAfterSeconds = 2;

/** Answers POST `/v1/chat/completions`. */
export async function serveChat(request: IncomingMessage, response: ServerResponse, service: ChatService): Promise<void> {
  const startedMs = performance.now();
  const { serving, limits, draining, open, onRefused, onShed, onDecision } = service;
  const refuse = (error: ApiError, headers: OutgoingHttpHeaders = {}): void => {
    onRefused(null, error.status);
    sendError(response, error, headers);
  };
  const abort = new AbortController();
  const { signal } = abort;
  const end = (reason: EndReason): void => abort.abort(reason);
  open.add(abort);
  response.once("close", () => {
    open.delete(abort);
    if (!response.writableFinished) end("client went away");
  });
  const read = await readBody(request, limits.bodyBytes, signal);
  if (read.kind === "cut-off" || response.destroyed) return;
  if (read.kind === "ended") return refuse(endedError(signal), { connection: "close" });
  if (read.kind === "too-large") {
    const message = `The body is longer than the ${limits.bodyBytes} bytes this gateway takes.`;
    // What is left of the body is not read, so the connection cannot be used again.
    return refuse({ status: 413, message, type: "invalid_request_error", code: "body_too_large" }, { connection: "close" });
  }
  const parsed = parseChat(read.bytes, request.headers);
  if (!parsed.ok) return refuse(parsed.error);
  const { chat } = parsed;
  const admission = admit(chat, { serving, queuedPerModel: limits.queuedPerModel, draining: draining() });
  if (admission.kind !== "admitted") {
    const headers = { "x-request-id": chat.requestId, "x-weir-decision-id": chat.decisionId };
    const { error } = admission;
    if (admission.kind === "refused") return refuse(error, headers);
    const { served } = admission;
    sendError(response, error, { ...headers, "retry-after": String(retryAfterSeconds) });
    const journal = new RequestJournal({ ...chat, startedMs });
    onRefused(served.name, error.status);
    journal.reason = error.message;
    onShed(journal.decision(served, error.status));
    return;
  }
  const deadline = setTimeout(() => end("deadline"), limits.requestSeconds * 1000);
  const { served } = admission;
  const run = new ChatRun({ chat, served, serving, response, signal, attemptsPerStage: limits.attemptsPerStage, startedMs });
  const finished = await run.run().finally(() => clearTimeout(deadline));
  onDecision(finished.served.name, finished.decision);
}
