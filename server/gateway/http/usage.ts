import { isRecord } from "@/solver/collections/isRecord";

/** Tokens as the engine counted them; null where it did not say. */
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

/** What no counter can have counted is not taken for a count: rates and costs that are made of it would be no numbers. */
function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
