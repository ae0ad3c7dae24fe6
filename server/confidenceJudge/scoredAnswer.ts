import { z } from "zod";
import { conversationTokens, END, isInVocabulary, textTokens } from "@/server/realModels/vocabulary";
import type { JudgedTexts } from "./judgedTexts";

/** A prompt whose last `answerTokens` tokens are an answer and its end. */
export interface ScoredPrompt {
  readonly tokens: readonly number[];
  readonly answerTokens: number;
}

/** The prompt that makes an engine score an answer; null where the model cannot have written it: a character outside its vocabulary. */
export function scoredPrompt({ conversation, answer }: JudgedTexts): ScoredPrompt | null {
  if (!isInVocabulary(answer)) return null;
  const scored = [...textTokens(answer), END];
  return { tokens: [...conversationTokens(conversation), ...scored], answerTokens: scored.length };
}

/** The body of a completion that returns the log probability of each token of the prompt. The one token generated is not read. */
export const scoringBody = (model: string, { tokens }: ScoredPrompt) => ({
  model,
  prompt: tokens,
  max_tokens: 1,
  temperature: 0,
  echo: true,
  logprobs: 0,
});

const completionSchema = z.object({
  choices: z.array(z.object({ logprobs: z.object({ token_logprobs: z.array(z.number().nullable()) }) })).min(1),
});

/**
 * The smallest probability, 0..1, of a token of the answer, its end included.
 *
 * @param completion the engine's answer to `scoringBody`.
 * @returns null where it lacks the log probability of a token of the prompt.
 */
export function smallestProbability(completion: unknown, { tokens, answerTokens }: ScoredPrompt): number | null {
  const read = completionSchema.safeParse(completion);
  const logprobs = read.data?.choices[0]?.logprobs.token_logprobs;
  if (logprobs === undefined || logprobs.length < tokens.length) return null;
  const scores = logprobs.slice(tokens.length - answerTokens, tokens.length);
  const least = scores.reduce<number | null>((low, score) => (low === null || score === null ? null : Math.min(low, score)), 0);
  return least === null ? null : Math.exp(least);
}
