import { z } from "zod";
import type { ApiError } from "@/server/contracts/http/apiServer";
import type { LoadedModel } from "./loadedModel";
import type { GenerationRequest } from "./request";

const share = z.number().min(0).max(1);

/** Fields that both APIs have. Others are accepted without effect, as in vLLM; `priority` is one of them: requests run in the order they come. */
export const commonFields = {
  model: z.string(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, "only 1 answer is given").nullish(),
  best_of: z.literal(1, "only 1 answer is given").nullish(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: share.gt(0).nullish(),
  top_k: z.int().min(-1).nullish(),
  min_p: share.nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
  stop_token_ids: z.array(z.int().min(0)).max(64).nullish(),
  min_tokens: z.int().min(0).nullish(),
  ignore_eos: z.boolean().nullish(),
};

const commonSchema = z.looseObject(commonFields);
export type CommonFields = z.infer<typeof commonSchema>;

/** Fields that change an answer and that this engine does not have, with the values under which they change nothing. */
const unsupported: Readonly<Record<string, readonly unknown[]>> = {
  suffix: [""],
  logit_bias: [],
  presence_penalty: [0],
  frequency_penalty: [0],
  repetition_penalty: [1],
  tools: [],
  functions: [],
  tool_choice: ["none", "auto"],
  use_beam_search: [false],
  guided_json: [],
  guided_regex: [],
  guided_choice: [],
  guided_grammar: [],
  structured_outputs: [],
};

export const badRequest = (message: string, param: string | null = null): ApiError => ({
  status: 400,
  type: "BadRequestError",
  message,
  ...(param === null ? {} : { param }),
});

/** The error of a body that does not fit its schema, with the field's name. */
export function fieldError({ issues }: z.ZodError): ApiError {
  const [issue] = issues;
  const param = issue?.path.join(".") ?? "";
  return badRequest(`Field ${param || "(body)"}: ${issue?.message}`, param);
}

/** The first field of a body that would change the answer and has no effect here; null: there is none. */
export function unsupportedField(body: Readonly<Record<string, unknown>>): ApiError | null {
  const isEmpty = (value: unknown): boolean =>
    value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);
  const found = Object.entries(unsupported).find(([name, idle]) => !isEmpty(body[name]) && !idle.includes(body[name]));
  if (found !== undefined) return badRequest(`This engine does not have ${found[0]}.`, found[0]);
  const format = (body.response_format as { readonly type?: unknown } | null | undefined)?.type ?? "text";
  return format === "text" ? null : badRequest("This engine does not have response_format other than text.", "response_format");
}

/** The values of the fields of both APIs; `seed` is that of a request that names none. */
export function commonRequest(
  fields: CommonFields,
  maxTokens: number,
  seed: number,
): Omit<GenerationRequest, "prompt" | "top" | "scorePrompt"> {
  return {
    maxTokens,
    minTokens: fields.min_tokens ?? 0,
    ignoreEnd: fields.ignore_eos === true,
    stop: (typeof fields.stop === "string" ? [fields.stop] : (fields.stop ?? [])).filter((text) => text !== ""),
    stopTokens: fields.stop_token_ids ?? [],
    sampling: {
      temperature: fields.temperature ?? 1,
      topP: fields.top_p ?? 1,
      topK: Math.max(0, fields.top_k ?? 0),
      minP: fields.min_p ?? 0,
      seed: fields.seed ?? seed,
    },
  };
}

/** Why a prompt with so many tokens to generate cannot be evaluated; null: it can. */
export function promptError(
  prompt: readonly number[],
  maxTokens: number,
  { contextTokens, vocabulary }: Pick<LoadedModel, "contextTokens" | "vocabulary">,
): ApiError | null {
  if (prompt.length === 0) return badRequest("The prompt is empty.", "prompt");
  const unknown = vocabulary === null ? undefined : prompt.find((token) => token >= vocabulary);
  if (unknown !== undefined) return badRequest(`The token ${unknown} is not one of the model's ${vocabulary}.`, "prompt");
  if (prompt.length >= contextTokens || prompt.length + maxTokens > contextTokens) {
    const parts = `${prompt.length} in the prompt and ${maxTokens} for the answer`;
    return badRequest(
      `This model's maximum context length is ${contextTokens} tokens. The request has ${prompt.length + maxTokens}: ${parts}.`,
    );
  }
  return null;
}
