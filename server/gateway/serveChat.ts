import type { IncomingMessage, ServerResponse } from "node:http";
import type { Decision } from "@/server/contracts/gatewayAdmin";
import { admit } from "./admission";
import { sendError } from "./apiError";
import { parseChat } from "./chatRequest";
import { ChatRun } from "./chatRun";
import type { GatewayLimits } from "./limits";
import { readBody } from "./readBody";
import { RequestJournal } from "./requestJournal";
import type { Serving } from "./serving";

export interface ChatService {
  readonly serving: Serving;
  readonly limits: GatewayLimits;
  readonly draining: () => boolean;
  /** Told of every request that named a served model, also of those shed. */
  readonly onDecision: (served: string, decision: Omit<Decision, "sequence">) => void;
}

/** When to ask again after a shed request: long enough to empty a part of a full queue at the rates a queue is made for. */
const retryAfterSeconds = 2;

/** Answers POST `/v1/chat/completions`. */
export async function serveChat(request: IncomingMessage, response: ServerResponse, service: ChatService): Promise<void> {
  const startedMs = performance.now();
  const { serving, limits, draining, onDecision } = service;
  const read = await readBody(request, limits.bodyBytes);
  if (read.kind === "cut-off") return;
  if (read.kind === "too-large") {
    const message = `The body is longer than the ${limits.bodyBytes} bytes this gateway takes.`;
    // What is left of the body is not read, so the connection cannot be used again.
    sendError(response, { status: 413, message, type: "invalid_request_error", code: "body_too_large" }, { connection: "close" });
    return;
  }
  const parsed = parseChat(read.bytes, request.headers);
  if (!parsed.ok) {
    sendError(response, parsed.error);
    return;
  }
  const { chat } = parsed;
  const admission = admit(chat.model, { serving, queuedPerModel: limits.queuedPerModel, draining: draining() });
  if (admission.kind !== "admitted") {
    const headers = { "x-request-id": chat.requestId, "x-weir-decision-id": chat.decisionId };
    sendError(response, admission.error, admission.kind === "shed" ? { ...headers, "retry-after": String(retryAfterSeconds) } : headers);
    if (admission.kind === "refused") return;
    const journal = new RequestJournal({ ...chat, startedMs });
    onDecision(admission.served.name, journal.decision(admission.served, admission.error.status));
    return;
  }
  const abort = new AbortController();
  const deadline = setTimeout(() => abort.abort("deadline"), limits.requestSeconds * 1000);
  response.once("close", () => {
    if (!response.writableFinished) abort.abort("client went away");
  });
  const { served } = admission;
  const run = new ChatRun({ chat, served, serving, response, signal: abort.signal, attemptsPerStage: limits.attemptsPerStage, startedMs });
  const finished = await run.run().finally(() => clearTimeout(deadline));
  onDecision(finished.served.name, finished.decision);
}
