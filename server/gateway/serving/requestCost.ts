import type { GateCall, GatewayConfig, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { isScoredByJudge } from "@/solver/gates/gates";
import { type HostedEngine, hostedUsd } from "@/solver/hardware/hostedModel";
import { cascadeOf } from "@/solver/plan/policySchema";
import { noUsage, type Usage } from "../http/usage";

/** Part of a request's cost: an answer of a model, or the scores of a judge. */
export interface Charge extends Usage {
  readonly model: string;
  /** Null if a price or a count is not known. */
  readonly usd: number | null;
}

/**
 * What a request is charged for by the prices in force: the tokens of every answer that an engine gave, accepted or not, those of the further
 * answers that gates asked for, compared or not, and the judge's scores. Of a further answer that was cancelled the prompt alone counts, since
 * engines do not report what they wrote until then. Failed attempts are left out.
 *
 * @param promptTokens of the request, as the gateway estimates them: for cancelled answers of a stage whose engine counted none.
 */
export function requestCharges(stages: readonly StageRecord[], promptTokens: number, config: GatewayConfig): readonly Charge[] {
  const charges: Charge[] = [];
  for (const stage of stages) {
    if (stage.verdict !== "failed") charges.push(chargeOf(stage, config));
    for (const calls of [stage.gate?.calls, stage.unusedCalls]) {
      for (const call of calls ?? []) {
        const charged = chargedCall(call, stage.inputTokens ?? promptTokens);
        if (charged !== null) charges.push(chargeOf(charged, config));
      }
    }
    if (stage.verdict !== "failed" && isScoredByJudge(stage))
      charges.push({ model: config.judge?.model ?? "judge", ...noUsage, usd: scoreCost(config) });
  }
  return charges;
}

function chargeOf(answer: Usage & { readonly model: string }, config: GatewayConfig): Charge {
  const { model, inputTokens, outputTokens } = answer;
  return { model, inputTokens, outputTokens, usd: answerCost(model, answer, config) };
}

/** The sum of a request's charges in USD; null if one of them is not known. */
export function chargedUsd(charges: readonly Charge[]): number | null {
  let usd = 0;
  for (const charge of charges) {
    if (charge.usd === null) return null;
    usd += charge.usd;
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
export function answerCost(model: string, { inputTokens, outputTokens }: Usage, config: GatewayConfig): number | null {
  const price = hostedTerms(config).get(model) ?? config.settings?.prices?.[model];
  if (price === undefined || inputTokens === null) return null;
  // Embeddings have no output tokens.
  return hostedUsd(price, { inputTokens, outputTokens: outputTokens ?? 0 });
}

/** Made once for each configuration: records of every request are costed. */
const knownTerms = new WeakMap<GatewayConfig["replicas"], ReadonlyMap<string, HostedEngine>>();

/** The terms of the hosted models of a configuration. Their prices are the provider's. */
function hostedTerms({ replicas }: Pick<GatewayConfig, "replicas">): ReadonlyMap<string, HostedEngine> {
  const known = knownTerms.get(replicas);
  if (known !== undefined) return known;
  const terms = new Map(replicas.flatMap(({ model, hosted }) => (hosted === undefined ? [] : [[model, hosted] as const])));
  knownTerms.set(replicas, terms);
  return terms;
}

/** The cost of one score of the judge in USD, as the policy states it. */
export function scoreCost({ policy }: Pick<GatewayConfig, "policy">): number {
  return cascadeOf(policy)?.judge.usdPerCall ?? 0;
}
