import { asItRuns, type PredictedAsItRuns, predictedAsItRuns } from "@/server/planning/planner/asItRuns";
import type { Planner } from "@/server/planning/planner/planner";
import { dispatchSituation, situationOf } from "@/server/planning/planner/situationOf";
import type { Plan } from "@/solver/plan/plan";
import { GAIN_NOT_REPEATED, isByThresholds } from "@/solver/plan/policySchema";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";

/** Inputs of a plan in place of the planned ones. */
export interface ReplacedTraffic {
  readonly requestsPerSecond?: number;
  /** With the id under which the planner is to keep it. */
  readonly workload?: { readonly id: string; readonly content: Workload };
  /** Of a judge of fixed time. */
  readonly judgeSecondsPerCall?: number;
}

const isUnscored = ({ routerScore }: ModelOutcomes): boolean => routerScore === undefined;

/**
 * What the planner predicts of a plan as it runs, the same replicas and thresholds or tau, cards and engine profile, with some inputs replaced: it is
 * simulated whole, as when it was made.
 */
export async function planUnder(
  planner: Pick<Planner, "solve">,
  { plan, workload }: { readonly plan: Plan; readonly workload: Workload },
  replaced: ReplacedTraffic,
  signal: AbortSignal,
): Promise<PredictedAsItRuns> {
  const { policy } = plan;
  if (policy.kind !== "cascade" && policy.kind !== "slack")
    return { kind: "not-evaluated", because: `Only cascades and slack dispatch are simulated, and this policy is ${policy.kind}.` };
  if (policy.kind === "cascade" && !isByThresholds(policy)) return { kind: "not-evaluated", because: GAIN_NOT_REPEATED };
  if (policy.kind === "slack" && policy.learnt?.confidence !== undefined)
    return { kind: "not-evaluated", because: "The confidences of its predictor are known for the planned prompts only." };
  const { judgeSecondsPerCall, workload: other, requestsPerSecond = plan.inputs.workload.requestsPerSecond } = replaced;
  const traffic = { requestsPerSecond, ...(other === undefined ? {} : { workload: other.content, workloadId: other.id }) };
  if (policy.kind === "slack") {
    const situation = { ...dispatchSituation(plan.inputs, { workload }), ...traffic };
    return predictedAsItRuns(await planner.solve(asItRuns(situation, { ...plan, policy }), { signal }));
  }
  if (policy.directStart?.router.kind === "trained" && (other?.content ?? workload).outcomes.models.some(isUnscored))
    return { kind: "not-evaluated", because: "The scores of its router's predictor are not kept here: train it again." };
  const planned = situationOf({ ...plan, policy }, workload);
  const situation = {
    ...planned,
    ...traffic,
    ...(judgeSecondsPerCall === undefined || planned.judge.kind === "engine"
      ? {}
      : { judge: { ...planned.judge, secondsPerCall: judgeSecondsPerCall } }),
  };
  return predictedAsItRuns(await planner.solve(asItRuns(situation, { ...plan, policy }), { signal }));
}
