import { isRecord } from "@/solver/collections/isRecord";

/** Tokens as counted by the engine; null if it did not say. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Those of the input that the engine found in its prefix cache; left out if it did not say. */
  readonly cachedTokens?: number | undefined;
}

export const noUsage: Usage = { inputTokens: null, outputTokens: null };

/** Reads the `usage` member of a completion or of a stream's last chunk. */
export function usageOf(completion: unknown): Usage {
  const usage = isRecord(completion) ? completion.usage : undefined;
  if (!isRecord(usage)) return noUsage;
  const { prompt_tokens: prompt, completion_tokens: completed, prompt_tokens_details: details } = usage;
  const cachedTokens = isRecord(details) ? (count(details.cached_tokens) ?? undefined) : undefined;
  return { inputTokens: count(prompt), outputTokens: count(completed), cachedTokens };
}

/** A value that cannot be a count is ignored: rates and costs computed from it would not be numbers. */
function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
