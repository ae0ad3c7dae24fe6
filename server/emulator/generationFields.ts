import type { ApiError } from "@/server/contracts/http/apiServer";
import { isRecord } from "@/solver/collections/isRecord";
import type { GenerationRequest } from "./generationRequest";
import type { FieldIssue } from "./pydanticError";
import { fieldFaults, integer, truthy } from "./requestFields";

/** A body as JSON, an object. */
export type Body = Readonly<Record<string, unknown>>;

export type Parsed = { readonly ok: true; readonly request: GenerationRequest } | { readonly ok: false; readonly error: ApiError };

/** Fields that both endpoints have, as far as the emulation uses them or vLLM's checks need them. */
const kinds = {
  model: "string",
  max_tokens: "integer",
  min_tokens: "integer",
  n: "integer",
  temperature: "number",
  top_p: "number",
  stream: "boolean",
  stream_options: "object",
  ignore_eos: "boolean",
  echo: "boolean",
  return_token_ids: "boolean",
  priority: "integer",
  response_format: "object",
  structured_outputs: "object",
} as const;

/** Most tokens whose log probabilities a request may ask for at each position: vLLM's default. */
const MOST_LOGPROBS = 20;

/**
 * A refusal by vLLM's own checks, worded as its `VLLMValidationError` is.
 * @param value the refused value, as Python writes it; absent: the check names none.
 */
export const refusal = (message: string, parameter: string, value?: string | number): ApiError => ({
  status: 400,
  type: "BadRequestError",
  message: `${message} (parameter=${parameter}${value === undefined ? "" : `, value=${value}`})`,
  param: parameter,
});

/** The first fault of a body as a whole; null: none. */
export function bodyFaultOf(body: Body): ApiError | null {
  const { stream, stream_options, prompt_logprobs } = body;
  for (const name of ["prompt_logprobs", "top_logprobs", "logprobs"]) {
    const value = body[name];
    if (typeof value === "string") return refusal(`\`${name}\` must be an integer.`, name, value);
    if (typeof value === "number" && value < 0 && value !== -1) return refusal(`\`${name}\` must be a positive value or -1.`, name, value);
  }
  if (truthy(stream) && typeof prompt_logprobs === "number" && prompt_logprobs !== 0)
    return refusal("`prompt_logprobs` are not available when `stream=True`.", "prompt_logprobs");
  if (stream_options && !truthy(stream)) return refusal("Stream options can only be defined when `stream=True`.", "stream_options");
  return null;
}

export const commonFaults = (body: Body): FieldIssue[] => fieldFaults(body, kinds);

/** The fields that both endpoints read alike. */
export function commonFields(
  body: Body,
): Omit<GenerationRequest, "endpoint" | "prompts" | "maxTokens" | "logprobs" | "echo" | "hasTools" | "call" | "form"> {
  const { model, stream, stream_options, min_tokens, ignore_eos, n, stop, prompt_logprobs, return_token_ids } = body;
  const options = isRecord(stream_options) ? stream_options : {};
  return {
    model: typeof model === "string" && model !== "" ? model : null,
    stream: truthy(stream),
    usage: { last: truthy(options.include_usage), running: truthy(options.include_usage) && truthy(options.continuous_usage_stats) },
    minTokens: integer(min_tokens, 0),
    ignoreEos: truthy(ignore_eos),
    choices: integer(n, 1),
    stop: (Array.isArray(stop) ? stop : [stop]).filter((text) => typeof text === "string" && text !== ""),
    promptLogprobs: typeof prompt_logprobs === "number" ? prompt_logprobs : null,
    tokenIds: truthy(return_token_ids),
  };
}

/** A value out of its range, as vLLM's sampling parameters refuse it, after the prompt was read; null: none. */
export function samplingFault(body: Body, request: GenerationRequest): ApiError | null {
  const temperature = integer(body.temperature, 1);
  const topP = integer(body.top_p, 1);
  const { choices, maxTokens, minTokens, logprobs, promptLogprobs, echo } = request;
  if (choices < 1) return plain(`n must be at least 1, got ${choices}.`);
  if (temperature < 0) return outOfRange("temperature", "must be non-negative", pythonNumber(temperature));
  if (temperature > 2) return outOfRange("temperature", "must be in [0, 2]", pythonNumber(temperature));
  if (topP <= 0 || topP > 1) return outOfRange("top_p", "must be in (0, 1]", pythonNumber(topP));
  if (maxTokens !== null && maxTokens < (echo ? 0 : 1)) return outOfRange("max_tokens", "must be at least 1", maxTokens);
  if (minTokens < 0) return plain(`min_tokens must be greater than or equal to 0, got ${minTokens}.`);
  if (maxTokens !== null && minTokens > maxTokens)
    return plain(`min_tokens must be less than or equal to max_tokens=${maxTokens}, got ${minTokens}.`);
  for (const [name, what, count] of [
    ["logprobs", "sample", logprobs],
    ["prompt_logprobs", "prompt", promptLogprobs],
  ] as const) {
    if ((count ?? 0) > MOST_LOGPROBS)
      return refusal(`Requested ${what} logprobs of ${count}, which is greater than max allowed: ${MOST_LOGPROBS}`, name, count ?? 0);
  }
  return null;
}

/** A refusal that names no parameter. */
export const plain = (message: string): ApiError => ({ status: 400, type: "BadRequestError", message });

const outOfRange = (name: string, rule: string, value: string | number): ApiError => refusal(`${name} ${rule}, got ${value}.`, name, value);

/** A float as Python writes it. */
const pythonNumber = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));
