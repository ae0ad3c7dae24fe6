import type { GateCall, GatewayConfig, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { isScoredByJudge } from "@/solver/gates/gates";
import { cascadeOf } from "@/solver/plan/policySchema";
import type { Usage } from "../http/usage";

/**
 * A request's cost in USD by the prices in force: the tokens of every answer that an engine gave, accepted or not, those of the further
 * answers that gates asked for, compared or not, and the judge's scores. Of a further answer that was cancelled the prompt alone counts, since
 * engines do not report what they wrote until then. Failed attempts are left out.
 *
 * @param promptTokens of the request, as the gateway estimates them: for cancelled answers of a stage whose engine counted none.
 * @returns null if a price or a count is not known.
 */
export function requestCost(stages: readonly StageRecord[], promptTokens: number, config: GatewayConfig): number | null {
  let usd = 0;
  for (const stage of stages) {
    const calls = [...(stage.gate?.calls ?? []), ...(stage.unusedCalls ?? [])];
    const further = calls.flatMap((call) => chargedCall(call, stage.inputTokens ?? promptTokens) ?? []);
    for (const answer of stage.verdict === "failed" ? further : [stage, ...further]) {
      const answerUsd = answerCost(answer.model, answer, config);
      if (answerUsd === null) return null;
      usd += answerUsd;
    }
    if (stage.verdict !== "failed" && isScoredByJudge(stage)) usd += scoreCost(config);
  }
  return usd;
}

/**
 * The tokens of a further answer that count: of a cancelled one those of its prompt.
 *
 * @param promptTokens as the engine of the answer itself counted them, or an estimate.
 * @returns null where it gave no answer and was not cancelled.
 */
export function chargedCall(call: GateCall, promptTokens: number): (Usage & Pick<GateCall, "model">) | null {
  if (call.outcome === "answered") return call;
  return call.outcome === "cancelled" ? { model: call.model, inputTokens: call.inputTokens ?? promptTokens, outputTokens: null } : null;
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
