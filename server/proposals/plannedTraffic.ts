import { routeByPolicy } from "@/solver/cascade/routing/gainRouting";
import { isScored, planningSample, promptsReaching, promptsScored } from "@/solver/cascade/routing/routing";
import type { Characteristic, PlannedTraffic } from "@/solver/numeric/drift";
import type { Plan } from "@/solver/plan/plan";
import { asksJudge, directStartOf, gatesByModel, modelsOf, thresholdsOf } from "@/solver/plan/policySchema";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { type StageGates, stageGatesOf, withGateScores } from "@/solver/stageGates/stageGate";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { plannedGates, stopsEarly, verdictScore } from "./gateScores";

export const inputTokensName = "input tokens";
export const outputTokensName = (model: string): string => `output tokens of ${model}`;
/** Of requests that reach the model. Of a gate that compares no further than it has to it is the share that is accepted, in percent. */
export const scoreName = (model: string): string => `score of ${model}`;
/** Of the requests that the mirror sends through all models. */
export const mirroredScoreName = (model: string): string => `score of ${model} on all requests`;

/** Most planned values in a comparison, evenly spread: the effect of chance is estimated by drawing from them. */
const MOST_VALUES = 3000;

/**
 * The traffic a plan was made for, as a gateway would see it. A gateway only sees a model's lengths and scores on the requests that reach
 * it, so they are compared with those of the planning prompts that the plan sends there. Scores are those of the plan's own gate of each stage;
 * answers of the last stage, and of one with the threshold 0, have none. The mirror has scores of all models on all traffic, of the last one by
 * the judge where there is one: they are compared with those of all planning prompts.
 */
export function plannedTraffic(plan: Pick<Plan, "policy" | "inputs">, workload: Workload): PlannedTraffic {
  const { models, sample, routed } = routedByPlan(plan, workload);
  const gates = plannedGates(plan);
  const everyone = Int32Array.from(sample.inputTokens.keys());
  const hasJudge = asksJudge(plan.policy);
  const characteristics = models.flatMap((model, stage): Characteristic[] => {
    const reach = promptsReaching(routed, stage);
    const gate = gates.get(model);
    const judged = sample.judged[stage];
    const of = (column: ArrayLike<number> | undefined): readonly number[] => evenly(reach, (prompt) => column?.[prompt] ?? 0);
    const scored = routed.judged[stage] === true ? promptsScored(routed, stage) : new Int32Array();
    const byVerdict = gate !== undefined && stopsEarly(gate.document);
    const isMirrored = plan.policy.kind === "cascade" && (gate === undefined ? hasJudge : gate.document.kind !== "judge" || hasJudge);
    const compared = byVerdict ? gate.threshold : 0;
    const scoreAt = (prompt: number): number => {
      const score = judged?.[prompt] ?? 0;
      return byVerdict ? verdictScore(score, gate.threshold ?? 0) : score;
    };
    const kind = "score" as const;
    return [
      ...(reach.length === 0
        ? []
        : [{ name: outputTokensName(model), kind: "tokens" as const, model, values: of(sample.outputTokens[stage]) }]),
      ...(scored.length === 0 || compared === null ? [] : [{ name: scoreName(model), kind, model, values: evenly(scored, scoreAt) }]),
      // Where every request is scored, the mirror's are a part of them.
      ...(isMirrored && (byVerdict || scored.length < sample.prompts)
        ? [{ name: mirroredScoreName(model), kind, model, values: evenly(everyone, (prompt) => judged?.[prompt] ?? 0) }]
        : []),
    ];
  });
  const lengths: Characteristic = { name: inputTokensName, kind: "tokens", values: evenly(sample.inputTokens, (tokens) => tokens) };
  return {
    requestsPerSecond: plan.inputs.workload.requestsPerSecond,
    arrivalSeconds: workload.arrivalSeconds,
    characteristics: [lengths, ...characteristics],
  };
}

/**
 * Scores with which the plan accepts answers of the stages that have a gate, of the planning prompts; empty if there are none. Without those of
 * gates that compare no further than they have to.
 */
export function plannedAcceptedScores(plan: Pick<Plan, "policy" | "inputs">, workload: Workload): readonly number[] {
  const { models, sample, routed } = routedByPlan(plan, workload);
  const gates = plannedGates(plan);
  const isCompared = models.map((model) => !stopsEarly(gates.get(model)?.document ?? { kind: "judge" }));
  return Array.from(routed.exit).flatMap((stage, prompt) =>
    isCompared[stage] === true && isScored(routed, prompt, stage) ? [sample.judged[stage]?.[prompt] ?? 0] : [],
  );
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
