import { z } from "zod";
import type { ApiError } from "@/server/contracts/http/apiServer";
import { reasonOf } from "@/server/lib/reasonOf";
import { badRequest, commonFields, commonRequest, fieldError, promptError, unsupportedField } from "./commonFields";
import type { LoadedModel } from "./loadedModel";
import type { ParsedRequest } from "./request";

const content = z.union([z.string(), z.array(z.object({ type: z.literal("text", "only text is understood"), text: z.string() }))]);

const chatSchema = z.looseObject({
  ...commonFields,
  messages: z.array(z.looseObject({ role: z.string(), content: content.nullish() })).min(1),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
});

/** Reads a chat request; without a limit an answer may fill the context. */
export function readChat(body: unknown, model: LoadedModel, seed: number): ParsedRequest | ApiError {
  const parsed = chatSchema.safeParse(body);
  if (!parsed.success) return fieldError(parsed.error);
  const { data } = parsed;
  const refusal = unsupportedField(data);
  if (refusal !== null) return refusal;
  if (data.top_logprobs && data.logprobs !== true) return badRequest("Field top_logprobs: it needs logprobs.", "top_logprobs");
  const messages = data.messages.map(({ role, content: given }) => ({
    role,
    content: typeof given === "string" ? given : (given ?? []).map((part) => part.text).join(""),
  }));
  let text: string | null;
  try {
    text = model.renderChat(messages);
  } catch (problem) {
    return badRequest(`The model's chat template refuses the messages: ${reasonOf(problem)}`, "messages");
  }
  if (text === null) return badRequest("This model has no chat template: send its prompts to /v1/completions.", "messages");
  // The template itself writes the beginning of the sequence.
  const prompt = model.tokenize(text, false);
  const limit = data.max_completion_tokens ?? data.max_tokens ?? null;
  const error = promptError(prompt, limit ?? 1, model);
  if (error !== null) return error;
  const maxTokens = limit ?? model.contextTokens - prompt.length;
  return {
    api: "chat",
    model: data.model,
    stream: data.stream === true,
    includeUsage: data.stream_options?.include_usage === true,
    echo: null,
    request: {
      ...commonRequest(data, maxTokens, seed),
      prompt,
      top: data.logprobs === true ? (data.top_logprobs ?? 0) : null,
      scorePrompt: false,
    },
  };
}
