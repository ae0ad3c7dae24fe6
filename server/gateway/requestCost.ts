import type { GatewayConfig, StageRecord } from "@/server/contracts/gatewayAdmin";

/**
 * What a request cost in USD by the prices in force: the tokens of every answer an engine gave, accepted or not, and the judge's scores.
 * Attempts that failed are left out, since nobody counted their tokens. Null where a price or a count is not known.
 */
export function requestCost(stages: readonly StageRecord[], { settings, policy }: GatewayConfig): number | null {
  const usdPerScore = policy.kind === "cascade" ? policy.judge.usdPerCall : 0;
  let usd = 0;
  for (const { model, verdict, judgedScore, inputTokens, outputTokens } of stages) {
    if (verdict === "failed") continue;
    const price = settings?.prices?.[model];
    if (price === undefined || inputTokens === null) return null;
    // Embeddings have no output to count.
    usd += (inputTokens * price.usdPerMillionInputTokens + (outputTokens ?? 0) * price.usdPerMillionOutputTokens) / 1e6;
    if (judgedScore !== null) usd += usdPerScore;
  }
  return usd;
}
