import { isRecord } from "@/solver/collections/isRecord";

/** Tokens as counted by the engine; null if it did not say. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export const noUsage: Usage = { inputTokens: null, outputTokens: null };

/** Reads the `usage` member of a completion or of a stream's last chunk. */
export function usageOf(completion: unknown): Usage {
  const usage = isRecord(completion) ? completion.usage : undefined;
  return isRecord(usage) ? { inputTokens: count(usage.prompt_tokens), outputTokens: count(usage.completion_tokens) } : noUsage;
}

/** A value that cannot be a count is ignored: rates and costs computed from it would not be numbers. */
function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
