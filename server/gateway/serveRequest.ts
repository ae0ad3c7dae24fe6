import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Decision } from "@/server/contracts/gatewayAdmin";
import { admit } from "./admission";
import { type ApiError, sendError } from "./apiError";
import { type EndReason, endedError } from "./endedError";
import type { Endpoint } from "./endpoint";
import type { GatewayLimits } from "./limits";
import { parseRequest, requestIds } from "./modelRequest";
import { readBody } from "./readBody";
import { RequestJournal } from "./requestJournal";
import { RequestRun } from "./requestRun";
import type { Serving } from "./serving";

export interface RequestService {
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

/** A request for a model that has just come. */
export interface Arrival {
  readonly endpoint: Endpoint;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers a POST to one of the endpoints that models answer. */
export async function serveRequest({ endpoint, request, response }: Arrival, service: RequestService): Promise<void> {
  const startedMs = performance.now();
  const { serving, limits, draining, open, onRefused, onShed, onDecision } = service;
  const ids = requestIds(request.headers);
  const idHeaders = { "x-request-id": ids.requestId, "x-weir-decision-id": ids.decisionId };
  const refuse = (error: ApiError, headers: OutgoingHttpHeaders = {}): void => {
    onRefused(null, error.status);
    sendError(response, error, { ...idHeaders, ...headers });
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
    return refuse({ status: 413, message, type: "invalid_request_error", code: "body_too_large" });
  }
  const parsed = parseRequest(read.bytes, { ids, endpoint, headers: request.headers });
  if (!parsed.ok) return refuse(parsed.error);
  const { asked } = parsed;
  const admission = admit(asked, { serving, queuedPerModel: limits.queuedPerModel, draining: draining() });
  if (admission.kind !== "admitted") {
    const { error } = admission;
    if (admission.kind === "refused") return refuse(error);
    const { served } = admission;
    sendError(response, error, { ...idHeaders, "retry-after": String(retryAfterSeconds) });
    const journal = new RequestJournal({ ...ids, startedMs });
    onRefused(served.name, error.status);
    journal.reason = error.message;
    onShed(journal.decision(served, error.status));
    return;
  }
  const deadline = setTimeout(() => end("deadline"), limits.requestSeconds * 1000);
  const { served } = admission;
  const run = new RequestRun({ asked, served, serving, response, signal, attemptsPerStage: limits.attemptsPerStage, startedMs });
  const finished = await run.run().finally(() => clearTimeout(deadline));
  onDecision(finished.served.name, finished.decision);
}
