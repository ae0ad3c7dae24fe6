import type { AbortKind } from "@/server/contracts/gateway/gatewayAdmin";
import { parsedOr } from "@/server/lib/parsedOr";
import type { EndSignal } from "@/server/lib/requestEnd";
import { isRecord } from "@/solver/collections/isRecord";
import { callEngine } from "../engines/engineCall";
import type { Replica } from "../engines/replica";
import { abortError, abortHeaders } from "../http/abortError";
import { type ApiError, drainingRetrySeconds, noRetry, retryAfter, sendError, sendJson, shuttingDown } from "../http/apiError";
import { unservedModel } from "../request/admission";
import { type Arrival, type RequestService, takeArrival } from "../request/serveRequest";

/** vLLM's path; it counts with the chat template and the tools, as it would for an answer. */
const tokenizePath = "/tokenize";
const timeoutMs = 10_000;

/** vLLM's answer lists the tokens: of a byte of the prompt at most one, with at most seven digits. */
const answerBytesPerByte = 8;
/** Room for what the chat template adds, and for images that are given as addresses. */
const answerBytesMore = 1024 * 1024;

/** Answers how many tokens a prompt has: of a cascade by the model for which it has the most, since each may come to read it. */
export async function countTokens(arrival: Arrival, service: RequestService): Promise<void> {
  const { caller, response } = arrival;
  const { serving, budgets, draining, onRefused } = service;
  const taken = await takeArrival(arrival, service);
  if (taken === null) return;
  const { asked, abort, place, idHeaders } = taken;
  const headers = { "x-request-id": idHeaders["x-request-id"] };
  const refuse = (error: ApiError, more = {}): void => {
    onRefused(null, error.status, caller.key);
    sendError(response, error, { ...headers, ...more });
  };
  const modelRefusal = caller.limited === null || caller.isPart ? null : budgets.modelRefusal(caller.limited, asked.model);
  if (modelRefusal !== null) return refuse(modelRefusal);
  if (draining()) return refuse(shuttingDown, retryAfter(drainingRetrySeconds));
  const served = serving.serverOf(asked);
  if (served === undefined) return refuse(unservedModel(asked.model));
  const engines = served.models.map((model) => serving.pool.own.replicas.find((replica) => replica.model === model && replica.accepting));
  const present = engines.filter((engine) => engine !== undefined);
  if (present.length === 0) return refuse(noEngine(served.models), retryAfter(serving.recoverySeconds(served.models)));
  const { messages, tools, chat_template_kwargs: template } = asked.body;
  const question = { messages, tools, chat_template_kwargs: template, add_generation_prompt: true };
  const asking = { question, headers: asked.upstreamHeaders, signal: abort.signal, grow: (bytes: number) => place.grow(bytes) };
  const deadline = setTimeout(() => abort.abort("deadline" satisfies AbortKind), timeoutMs);
  const counts = await Promise.all(present.map(async (engine) => ({ engine, count: await countOf(engine, asking) })));
  clearTimeout(deadline);
  if (response.destroyed) return;
  if (abort.aborted) return refuse(abortError(abort), abortHeaders(abort));
  const silent = counts.find(({ count }) => count === null);
  if (silent !== undefined) return refuse(notCounted(silent.engine.model), noRetry);
  sendJson(response, { input_tokens: Math.max(...counts.map(({ count }) => count ?? 0)) }, { headers });
}

interface Question {
  readonly question: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: EndSignal;
  /** Reserves memory for the answer; false if there is none. */
  readonly grow: (bytes: number) => boolean;
}

/** @returns null if the engine does not count. */
async function countOf({ pool, basePath, servedName }: Replica, { question, headers, signal, grow }: Question): Promise<number | null> {
  const body = JSON.stringify({ model: servedName, ...question });
  const mostBytes = answerBytesMore + answerBytesPerByte * Buffer.byteLength(body);
  const reply = await callEngine({ pool, path: basePath + tokenizePath, headers, body, signal, mostBytes, grow });
  if (reply.kind !== "answered" || reply.status !== 200) return null;
  const document = parsedOr(reply.body.toString("utf8"), null);
  return isRecord(document) && Number.isSafeInteger(document.count) ? Number(document.count) : null;
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
