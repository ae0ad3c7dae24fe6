import { z } from "zod";
import type { ApiError } from "@/server/contracts/http/apiServer";
import { badRequest, commonFields, commonRequest, fieldError, promptError, unsupportedField } from "./commonFields";
import type { LoadedModel } from "./loadedModel";
import type { ParsedRequest } from "./request";

/** The default of OpenAI's API and of vLLM. */
const defaultMaxTokens = 16;

const tokens = z.array(z.int().min(0)).min(1);
const onlyOne = "only 1 prompt is answered";

const completionSchema = z.looseObject({
  ...commonFields,
  prompt: z.union([z.string(), tokens, z.array(z.string()).length(1, onlyOne), z.array(tokens).length(1, onlyOne)], {
    error: `a text or a list of token ids is needed; ${onlyOne}`,
  }),
  max_tokens: z.int().min(0).nullish(),
  logprobs: z.int().min(0).max(20).nullish(),
  echo: z.boolean().nullish(),
});

/** Reads a completion request. A text gets the beginning-of-sequence token if the model wants one; token ids are taken as they are. */
export function readCompletion(body: unknown, model: LoadedModel, seed: number): ParsedRequest | ApiError {
  const parsed = completionSchema.safeParse(body);
  if (!parsed.success) return fieldError(parsed.error);
  const { data } = parsed;
  const refusal = unsupportedField(data);
  if (refusal !== null) return refusal;
  const echo = data.echo === true;
  const maxTokens = data.max_tokens ?? defaultMaxTokens;
  if (maxTokens === 0 && !echo) return badRequest("Field max_tokens: it is at least 1, unless the prompt is echoed.", "max_tokens");
  const [first] = data.prompt;
  const given = typeof data.prompt !== "string" && typeof first !== "number" ? first : data.prompt;
  const prompt = typeof given === "string" ? model.tokenize(given, true) : (given as readonly number[]);
  const error = promptError(prompt, maxTokens, model);
  if (error !== null) return error;
  const top = data.logprobs ?? null;
  return {
    api: "completion",
    model: data.model,
    stream: data.stream === true,
    includeUsage: data.stream_options?.include_usage === true,
    echo: echo ? (typeof given === "string" ? given : model.detokenize(prompt, [], false)) : null,
    request: { ...commonRequest(data, maxTokens, seed), prompt, top, scorePrompt: echo && top !== null },
  };
}
