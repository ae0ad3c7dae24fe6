import { routeByPolicy } from "@/solver/cascade/routing/gainRouting";
import { isScored, planningSample, promptsReaching, promptsScored } from "@/solver/cascade/routing/routing";
import type { Characteristic, PlannedTraffic } from "@/solver/numeric/drift";
import type { Plan } from "@/solver/plan/plan";
import { directStartOf, gatesByModel, modelsOf, thresholdsOf } from "@/solver/plan/policySchema";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { type StageGates, stageGatesOf, withGateScores } from "@/solver/stageGates/stageGate";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";

export const inputTokensName = "input tokens";
export const outputTokensName = (model: string): string => `output tokens of ${model}`;
export const scoreName = (model: string): string => `score of ${model}`;

/** Most planned values in a comparison, evenly spread: the effect of chance is estimated by drawing from them. */
const MOST_VALUES = 3000;

/**
 * The traffic a plan was made for, as a gateway would see it. A gateway only sees a model's lengths and scores on the requests that reach
 * it, so they are compared with those of the planning prompts that the plan sends there. Answers of the last stage, and of one with the threshold 0,
 * are not judged.
 */
export function plannedTraffic(plan: Pick<Plan, "policy" | "inputs">, workload: Workload): PlannedTraffic {
  const { models, sample, routed } = routedByPlan(plan, workload);
  const characteristics = models.flatMap((model, stage): Characteristic[] => {
    const reach = promptsReaching(routed, stage);
    const of = (column: ArrayLike<number> | undefined): readonly number[] => evenly(reach, (prompt) => column?.[prompt] ?? 0);
    if (reach.length === 0) return [];
    const scoresOf = (own: number) => evenly(promptsScored(routed, own), (prompt) => sample.judged[own]?.[prompt] ?? 0);
    return [
      { name: outputTokensName(model), kind: "tokens", model, values: of(sample.outputTokens[stage]) },
      ...(routed.judged[stage] === true ? [{ name: scoreName(model), kind: "score" as const, model, values: scoresOf(stage) }] : []),
    ];
  });
  const lengths: Characteristic = { name: inputTokensName, kind: "tokens", values: evenly(sample.inputTokens, (tokens) => tokens) };
  return {
    requestsPerSecond: plan.inputs.workload.requestsPerSecond,
    arrivalSeconds: workload.arrivalSeconds,
    characteristics: [lengths, ...characteristics],
  };
}

/** Scores with which the plan accepts answers of the judged stages, of the planning prompts; empty if there are none. */
export function plannedAcceptedScores(plan: Pick<Plan, "policy" | "inputs">, workload: Workload): readonly number[] {
  const { sample, routed } = routedByPlan(plan, workload);
  return Array.from(routed.exit).flatMap((stage, prompt) => (isScored(routed, prompt, stage) ? [sample.judged[stage]?.[prompt] ?? 0] : []));
}

/** The planning prompts as the policy routes them. The workload of a policy with a trained router has its scores: `workloadOfPlan`. */
export function routedByPlan({ policy }: Pick<Plan, "policy">, workload: Workload) {
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const directStart = directStartOf(policy);
  const modelled = directStart?.router.kind === "modelled" ? directStart.router : null;
  const outcomes = modelled === null ? workload.outcomes : withRouterScores(workload.outcomes, { auc: modelled.auc, seed: workload.seed });
  const isScored = directStart === undefined || outcomes.models.every(({ routerScore }) => routerScore !== undefined);
  const gates = policy.kind === "cascade" ? stageGatesOf(workload, gatesByModel(policy)) : (new Map() satisfies StageGates);
  const isRead = isScored && !isRefused(gates);
  // All others route requests by load or by unknown scores, so the requests of a model are not known in advance: only arrivals are compared.
  const models = (policy.kind === "cascade" && isRead) || policy.kind === "fixed" ? modelsOf(policy) : [];
  const sample = planningSample(isRefused(gates) ? outcomes : withGateScores({ outcomes }, gates), planning, models);
  const routed =
    policy.kind === "cascade" && isRead
      ? routeByPolicy(sample, policy)
      : routeByPolicy(sample, { thresholds: models.length === 0 ? [] : [...thresholdsOf(policy)] });
  return { models, planning, sample, routed };
}

function evenly(values: Int32Array, of: (value: number) => number): readonly number[] {
  const count = Math.min(MOST_VALUES, values.length);
  return Array.from({ length: count }, (_, at) => of(values[Math.floor((at * values.length) / count)] ?? 0));
}
