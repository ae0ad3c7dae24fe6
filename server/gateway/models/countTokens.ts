import type { IncomingMessage, ServerResponse } from "node:http";
import { isRecord } from "@/solver/collections/isRecord";
import { callEngine } from "../engines/engineCall";
import type { Replica } from "../engines/replica";
import { clientGone } from "../http/abortError";
import { type ApiError, noRetry, retryAfter, sendError, sendJson } from "../http/apiError";
import { BodyReservation } from "../http/bodyMemoryBudget";
import type { Caller } from "../http/callers";
import type { Endpoint } from "../http/endpoint";
import { modelRequestOf, requestIds } from "../http/modelRequest";
import { takeJson } from "../http/takeJson";
import { unservedModel } from "../request/admission";
import type { RequestService } from "../request/serveRequest";

/** vLLM's path; it counts with the chat template and the tools, as it would for an answer. */
const tokenizePath = "/tokenize";
const timeoutMs = 10_000;

interface Counting {
  readonly endpoint: Endpoint;
  readonly caller: Caller;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers how many tokens a prompt has: of a cascade by the model for which it has the most, since each may come to read it. */
export async function countTokens({ endpoint, caller, request, response }: Counting, service: RequestService): Promise<void> {
  const { serving, limits, bodies, onRefused } = service;
  const ids = requestIds(request.headers);
  const abort = new AbortController();
  const place = new BodyReservation(bodies);
  response.once("close", () => {
    place.leave();
    if (!response.writableFinished) abort.abort();
  });
  const headers = { "x-request-id": ids.requestId };
  const refuse = (error: ApiError, more = {}): void => {
    onRefused(null, error.status, caller.key);
    sendError(response, error, { ...headers, ...more });
  };
  const { bodyBytes: mostBytes, bodyJson: json, arrivalSeconds } = limits;
  const taken = await takeJson(request, { mostBytes, json, arrivalSeconds, abort, place });
  if (taken === "gone") return onRefused(null, clientGone, caller.key);
  if ("error" in taken) return refuse(taken.error, taken.headers);
  const arrived = { ids, endpoint, headers: request.headers, key: caller.key, passAuthorization: !serving.callers.needed };
  const parsed = modelRequestOf(taken, arrived);
  if (!parsed.ok) return refuse(parsed.error);
  const { asked } = parsed;
  const served = serving.serverOf(asked);
  if (served === undefined) return refuse(unservedModel(asked.model));
  const engines = served.models.map((model) => serving.pool.replicas.find((replica) => replica.model === model && replica.accepting));
  const present = engines.filter((engine) => engine !== undefined);
  if (present.length === 0) return refuse(noEngine(served.models), retryAfter(serving.recoverySeconds(served.models)));
  const { messages, tools, chat_template_kwargs: template } = asked.body;
  const question = { messages, tools, chat_template_kwargs: template, add_generation_prompt: true };
  const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(timeoutMs)]);
  const counts = await Promise.all(
    present.map(async (engine) => ({ engine, count: await countOf(engine, { question, headers: asked.upstreamHeaders, signal }) })),
  );
  if (response.destroyed) return;
  const silent = counts.find(({ count }) => count === null);
  if (silent !== undefined) return refuse(notCounted(silent.engine.model), noRetry);
  sendJson(response, { input_tokens: Math.max(...counts.map(({ count }) => count ?? 0)) }, { headers });
}

interface Question {
  readonly question: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** @returns null if the engine does not count. */
async function countOf({ pool, basePath, servedName }: Replica, { question, headers, signal }: Question): Promise<number | null> {
  const body = JSON.stringify({ model: servedName, ...question });
  const reply = await callEngine({ pool, path: basePath + tokenizePath, headers, body, signal, mostBytes: 64 * 1024 * 1024 });
  if (reply.kind !== "answered" || reply.status !== 200) return null;
  try {
    const document: unknown = JSON.parse(reply.body.toString("utf8"));
    return isRecord(document) && Number.isSafeInteger(document.count) ? Number(document.count) : null;
  } catch {
    return null;
  }
}

const noEngine = (models: readonly string[]): ApiError => ({
  status: 503,
  message: `No engine of ${models.join(" or ")} takes work at the moment.`,
  type: "server_error",
  code: "no_endpoint",
});

const notCounted = (model: string): ApiError => ({
  status: 501,
  message: `The engine of ${model} does not count tokens: it has no ${tokenizePath} that takes messages, as vLLM has.`,
  type: "server_error",
  code: "not_implemented",
});
