import type { Generation } from "./generation";
import { refusal } from "./generationFields";
import type { GenerationRequest } from "./generationRequest";
import type { ApiError } from "@/server/contracts/http/apiServer";

/**
 * Why a request does not fit into a context, as vLLM says it; null if it fits. An answer is cut at the context's end.
 * @param contextTokens the longest prompt and answer together.
 */
export function contextFault(generations: readonly Generation[], { maxTokens }: GenerationRequest, contextTokens: number): ApiError | null {
  if ((maxTokens ?? 0) > contextTokens) {
    const message = `max_tokens=${maxTokens} cannot be greater than max_model_len=${contextTokens}. Please request fewer output tokens.`;
    return refusal(message, "max_tokens", maxTokens ?? 0);
  }
  return generations.some(({ inputTokens }) => inputTokens >= contextTokens) ? contextRefusal(contextTokens) : null;
}

/** The refusal of a prompt that is too long. vLLM's tokenizer stops one token behind the limit. */
export function contextRefusal(contextTokens: number): ApiError {
  const message =
    `This model's maximum context length is ${contextTokens} tokens. However, your prompt contains at least ${contextTokens + 1} input tokens, ` +
    "which exceeds this limit even without any output tokens. Please reduce the length of the input prompt.";
  return refusal(message, "input_tokens", contextTokens + 1);
}
