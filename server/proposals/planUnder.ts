import type { Planner } from "@/server/planning/planner";
import type { SolveRequest } from "@/server/planning/planningRequest";
import { situationOf } from "@/server/planning/situationOf";
import { planConstraintsSchema } from "@/solver/deployment/constraints";
import type { Plan, Predictions } from "@/solver/plan/plan";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import type { Workload } from "@/solver/workload/workload";

/** Inputs of a plan in place of the planned ones. */
export interface ReplacedTraffic {
  readonly requestsPerSecond?: number;
  /** With the id under which the planner is to keep it. */
  readonly workload?: { readonly id: string; readonly content: Workload };
  /** Of a judge of fixed time. */
  readonly judgeSecondsPerCall?: number;
}

/**
 * What the planner predicts of a plan as it runs, the same replicas and thresholds, cards and engine profile, with some inputs replaced: it is
 * simulated whole, as when it was made.
 *
 * @returns null where the plan does not keep up then.
 */
export async function planUnder(
  planner: Pick<Planner, "solve">,
  { plan, workload }: { readonly plan: Plan; readonly workload: Workload },
  replaced: ReplacedTraffic,
  signal: AbortSignal,
): Promise<Predictions | null> {
  const { policy, inputs } = plan;
  if (policy.kind !== "cascade") throw new Error(`Only cascades are simulated, not ${policy.kind}.`);
  const planned = situationOf({ ...plan, policy }, workload);
  const { judgeSecondsPerCall, workload: other, requestsPerSecond = planned.requestsPerSecond } = replaced;
  const request: SolveRequest = {
    ...planned,
    requestsPerSecond,
    ...(other === undefined ? {} : { workload: other.content, workloadId: other.id }),
    ...(judgeSecondsPerCall === undefined || planned.judge.kind === "engine"
      ? {}
      : { judge: { ...planned.judge, secondsPerCall: judgeSecondsPerCall } }),
    running: runningReplicas(plan),
    constraints: { ...planConstraintsSchema.parse({}), maxChangedReplicas: 0 },
    objective: inputs.objective,
    fixed: { models: planned.models, thresholds: policy.thresholds, startBelow: policy.directStart?.below },
  };
  const answer = await planner.solve(request, { signal });
  return answer.outcome === "plan" ? answer.plan.predictions : null;
}
