import type { GatewayConfig, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { isScoredByJudge } from "@/solver/gates/gates";
import { cascadeOf } from "@/solver/plan/policySchema";
import type { Usage } from "../http/usage";

/**
 * A request's cost in USD by the prices in force: the tokens of every answer that an engine gave, accepted or not, those of the further
 * answers that gates asked for, compared or not, and the judge's scores. Failed attempts and cancelled answers are left out, since their tokens are unknown.
 * Null if a price or a count is not known.
 */
export function requestCost(stages: readonly StageRecord[], config: GatewayConfig): number | null {
  let usd = 0;
  for (const stage of stages) {
    const further = [...(stage.gate?.calls ?? []), ...(stage.unusedCalls ?? [])].filter(({ outcome }) => outcome === "answered");
    for (const answer of stage.verdict === "failed" ? further : [stage, ...further]) {
      const answerUsd = answerCost(answer.model, answer, config);
      if (answerUsd === null) return null;
      usd += answerUsd;
    }
    if (stage.verdict !== "failed" && isScoredByJudge(stage)) usd += scoreCost(config);
  }
  return usd;
}

/** The cost of one answer of a model in USD; null if its price or a count is not known. */
export function answerCost(model: string, { inputTokens, outputTokens }: Usage, { settings }: GatewayConfig): number | null {
  const price = settings?.prices?.[model];
  if (price === undefined || inputTokens === null) return null;
  // Embeddings have no output tokens.
  return (inputTokens * price.usdPerMillionInputTokens + (outputTokens ?? 0) * price.usdPerMillionOutputTokens) / 1e6;
}

/** The cost of one score of the judge in USD, as the policy states it. */
export function scoreCost({ policy }: Pick<GatewayConfig, "policy">): number {
  return cascadeOf(policy)?.judge.usdPerCall ?? 0;
}
