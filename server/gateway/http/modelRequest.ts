import { randomInt, randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import { isRecord } from "@/solver/collections/isRecord";
import type { WorkflowCall } from "@/solver/policies/core/policy";
import { promptBlocks } from "@/solver/prefix/promptBlocks";
import type { ApiError } from "./apiError";
import { bodyMemoryExhausted } from "./bodyMemoryBudget";
import { apiKeyHeader } from "./callers";
import { saneNameOf, shownName } from "./clientNames";
import type { Endpoint } from "./endpoint";
import { type Identifiers, identifiersOf } from "./identifiers";
import type { TakenJson } from "./takeJson";

/** Identifiers of a request, known from its first byte on. */
export interface RequestIds {
  /** The client's `x-request-id` if it is valid. */
  readonly requestId: string;
  readonly decisionId: string;
}

/** A client's request to a model. Fields that the gateway does not use stay in `body` unchanged. */
export interface ModelRequest extends RequestIds, Identifiers {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** The program's key for policies: sessions of one name under different API keys are different programs. */
  readonly programKey: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The bytes that `body` was read from; null if engines read another. */
  readonly source: BodySource | null;
  readonly stream: boolean;
  /** How a judged cascade's stream is sent; null if the request does not say. */
  readonly streaming: Streaming | null;
  readonly includeUsage: boolean;
  /** Estimated from the size of the body at four bytes a token; policies that need the true count ask for telemetry. */
  readonly inputTokens: number;
  /** Size of the body: no prompt has more tokens. */
  readonly promptBytes: number;
  /** The client's limit for the answer's length, if it gives one: used as a prediction of the length. */
  readonly mostTokens: number | null;
  /** The client's estimate of the tokens that this request and the rest of its program will write; null if it gives none. */
  readonly programTokens: number | null;
  /** Seconds of the wall after its arrival at which its client needs the answer; null if it does not say. */
  readonly deadlineSeconds: number | null;
  /** Priority for the engine's own queue, lower is earlier; null if the client gives none, which counts as 0. */
  readonly priority: number | null;
  readonly routerScores: RequestScores;
  /** Headers that are passed on to the engine. */
  readonly upstreamHeaders: Readonly<Record<string, string>>;
}

/** A body as its client wrote it. */
export interface BodySource {
  /** What was read from it. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

type Streaming = NonNullable<GatewaySettings["streaming"]>;

export type ParsedRequest = { readonly ok: true; readonly asked: ModelRequest } | { readonly ok: false; readonly error: ApiError };

/** Used to estimate tokens. */
export const bytesPerToken = 4;
const passedHeaders = ["traceparent", "tracestate", "x-session-id"] as const;
const passedWithAuthorization = [...passedHeaders, "authorization"] as const;
const streamingHeader = "x-weir-stream";
const programTokensHeader = "x-weir-program-tokens";
const deadlineHeader = "x-weir-deadline-seconds";
const positiveInteger = /^[1-9]\d{0,8}$/;

/** A plain decimal number of seconds, more than 0 and at most a day. */
const isDeadline = (text: string): boolean => /^\d{1,5}(\.\d{1,20})?$/.test(text) && Number(text) > 0 && Number(text) <= 86_400;

/** What a record keeps of a prompt. */
export interface PromptEnd {
  readonly text: string;
  /** Length of the whole prompt. */
  readonly characters: number;
}

/**
 * The end of a prompt, for a record. A copy: a slice would keep the whole string in memory.
 */
export function promptEnd({ endpoint, body }: ModelRequest, characters: number): PromptEnd | null {
  if (endpoint.text === null) return null;
  const prompt = endpoint.text.prompt(body);
  return { text: Buffer.from(prompt.slice(-characters)).toString(), characters: prompt.length };
}

/** Differs from process to process: hashes of two gateways cannot be compared. It is no key: one known prompt and its hashes reveal it. */
const hashSalt = randomInt(2 ** 32);

/** Hashes of the prompt's blocks, for policies that place by prefix; undefined where the request has no prompt of text. */
export function promptBlocksOf({ endpoint, body }: Pick<ModelRequest, "endpoint" | "body">): Uint32Array | undefined {
  if (endpoint.text === null) return undefined;
  // Chat templates write tools before the messages.
  const tools = body.tools === undefined ? "" : `${JSON.stringify(body.tools)}\n`;
  return promptBlocks(tools + endpoint.text.prompt(body), hashSalt);
}

/** The program of the requests by which the gateway answers one for an ensemble. */
export const partsProgram = ({ decisionId }: Pick<RequestIds, "decisionId">): string => `ensemble-${decisionId}`;

/** The key of a program: of one name under different API keys are different programs. */
export const programKeyOf = (programId: string, key: string | null): string => (key === null ? programId : `${key}\n${programId}`);

/** The ids of a request that has just arrived. */
export function requestIds(headers: IncomingHttpHeaders): RequestIds {
  const decisionId = randomUUID();
  return { requestId: saneNameOf(headers["x-request-id"]) ?? decisionId, decisionId };
}

interface Arrived {
  readonly ids: RequestIds;
  readonly endpoint: Endpoint;
  readonly headers: IncomingHttpHeaders;
  /** Name of its API key; null if it has none. */
  readonly key: string | null;
  /** Whether `authorization` is passed to the engine: not if it holds a key of the gateway's. */
  readonly passAuthorization: boolean;
  /** Reserves memory for what its endpoint adds to the body; false if there is none. */
  readonly grow: (bytes: number) => boolean;
}

/** The request that a parsed body makes. Only what the gateway itself needs is checked; the engine checks the rest. */
export function modelRequestOf(
  { value, text, byteLength, bytes }: Pick<TakenJson, "value" | "text" | "byteLength" | "bytes">,
  { ids, endpoint, headers, key, passAuthorization, grow }: Arrived,
): ParsedRequest {
  if (!isRecord(value)) return refuse("The body must be a JSON object.", "invalid_json");
  const made = endpoint.chatBody?.(value, text) ?? { body: value, addedBytes: 0 };
  if ("message" in made) return refuse(made.message, "unsupported_value", made.param);
  const { body, addedBytes = 0 } = made;
  if (addedBytes > 0 && !grow(addedBytes)) return { ok: false, error: bodyMemoryExhausted };
  const { model, stream, stream_options: streamOptions, priority = null } = body;
  if (typeof model !== "string" || model === "")
    return refuse("`model` must name a model; GET /v1/models lists them.", "invalid_type", "model");
  const refusal = endpoint.refusal(body);
  if (refusal !== null) return refuse(refusal.message, "invalid_type", refusal.param);
  for (const [param, least] of countFields) {
    const count = body[param] ?? null;
    if (count !== null && !(isInteger(count) && count >= least))
      return refuse(`\`${param}\` must be an integer from ${least} to ${Number.MAX_SAFE_INTEGER}.`, "invalid_type", param);
  }
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    return refuse("`stream` must be true or false.", "invalid_type", "stream");
  if (priority !== null && !isInteger(priority))
    return refuse("`priority` must be an integer; lower is earlier, and 0 is what a request without it has.", "invalid_type", "priority");
  const routerScores = readRouterScores(headers);
  if (typeof routerScores === "string") return refuse(routerScores, "invalid_header");
  const streaming = headers[streamingHeader] ?? null;
  if (streaming !== null && streaming !== "buffer" && streaming !== "last") {
    return refuse(
      `The header ${streamingHeader} says ${JSON.stringify(shownName(String(streaming)))}, but only buffer and last exist.`,
      "invalid_header",
    );
  }
  const programTokens = headers[programTokensHeader] ?? null;
  if (programTokens !== null && !positiveInteger.test(String(programTokens))) {
    const shown = JSON.stringify(shownName(String(programTokens)));
    return refuse(
      `The header ${programTokensHeader} says ${shown}, but it must be a positive number of tokens below 1e9.`,
      "invalid_header",
    );
  }
  const deadline = headers[deadlineHeader] ?? null;
  if (deadline !== null && !isDeadline(String(deadline))) {
    const shown = JSON.stringify(shownName(String(deadline)));
    return refuse(`The header ${deadlineHeader} says ${shown}, but it must be seconds above 0, at most 86400.`, "invalid_header");
  }
  const known = identifiersOf(headers, ids.decisionId);
  const upstreamHeaders: Record<string, string> = { "content-type": "application/json", "x-request-id": ids.requestId };
  for (const name of passAuthorization ? passedWithAuthorization : passedHeaders) {
    const value = headers[name];
    if (typeof value === "string") upstreamHeaders[name] = value;
  }
  const apiKey = headers[apiKeyHeader];
  // Engines read a key in the one header only.
  if (passAuthorization && typeof apiKey === "string") upstreamHeaders.authorization ??= `Bearer ${apiKey}`;
  return {
    ok: true,
    asked: {
      // Not `...ids`: a spread before other members costs more than the rest of this function.
      requestId: ids.requestId,
      decisionId: ids.decisionId,
      endpoint,
      model,
      programId: known.programId,
      programKey: known.programId === ids.decisionId ? known.programId : programKeyOf(known.programId, key),
      inSession: known.inSession,
      workflow: known.workflow,
      stage: known.stage,
      agent: known.agent,
      upstreamAgents: known.upstreamAgents,
      startedAtMs: known.startedAtMs,
      body,
      source: body === value ? { body, bytes } : null,
      stream: endpoint.text !== null && stream === true,
      streaming,
      includeUsage: isRecord(streamOptions) && streamOptions.include_usage === true,
      inputTokens: Math.ceil((byteLength + addedBytes) / bytesPerToken),
      promptBytes: byteLength + addedBytes,
      mostTokens: mostTokensOf(body),
      programTokens: programTokens === null ? null : Number(programTokens),
      deadlineSeconds: deadline === null ? null : Number(deadline),
      priority,
      routerScores,
      upstreamHeaders,
    },
  };
}

/** Headers for an engine without those that would continue a client's trace there. */
export function withoutTrace({ traceparent: _, tracestate: __, ...headers }: ModelRequest["upstreamHeaders"]): Record<string, string> {
  return headers;
}

/** Its place in a workflow as named by its client; undefined if it names none. */
export const callOf = ({ workflow, stage }: Pick<ModelRequest, "workflow" | "stage">): WorkflowCall | undefined =>
  workflow === "" || stage === "" ? undefined : { workflow, agent: stage };

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/**
 * Fields that bound or multiply an answer's tokens, with their least values. Limits of keys are reserved by them. The older endpoint takes
 * `max_tokens: 0` to echo a prompt.
 */
const countFields = [
  ["max_tokens", 0],
  ["max_completion_tokens", 1],
  ["n", 1],
] as const;

function mostTokensOf({ max_completion_tokens: completion, max_tokens: legacy }: ModelRequest["body"]): number | null {
  const asked = completion ?? legacy;
  return typeof asked === "number" && asked > 0 ? asked : null;
}

function refuse(message: string, code: string, param?: string): ParsedRequest {
  return { ok: false, error: { status: 400, message, type: "invalid_request_error", code, ...(param === undefined ? {} : { param }) } };
}

/** An application router's scores of a request, by model; empty if it gives none. */
type RequestScores = ReadonlyMap<string, number>;

const header = "x-weir-router-scores";
const none: RequestScores = new Map();
const number = /^\d{1,3}(\.\d+)?$/;

/**
 * Reads `x-weir-router-scores: model=score,...` with scores of 0 to 100, by which a policy with a direct start chooses the first stage.
 * Scores of models without a stage are ignored, so that a router need not know which cascade is in force.
 *
 * @returns the sentence that refuses it, if it has any other form.
 */
function readRouterScores(headers: IncomingHttpHeaders): RequestScores | string {
  const value = headers[header];
  if (value === undefined) return none;
  const scores = new Map<string, number>();
  for (const entry of String(value).split(",")) {
    const equals = entry.lastIndexOf("=");
    const model = entry.slice(0, Math.max(0, equals)).trim();
    const score = entry.slice(equals + 1).trim();
    const shown = JSON.stringify(shownName(entry.trim()));
    if (model === "" || !number.test(score) || Number(score) > 100) {
      return `The header ${header} says ${shown}, but each entry must be model=score with a score from 0 to 100.`;
    }
    if (scores.has(model)) return `The header ${header} scores ${JSON.stringify(shownName(model))} twice.`;
    scores.set(model, Number(score));
  }
  return scores;
}
