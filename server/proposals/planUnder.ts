import { asItRuns, type PredictedAsItRuns, predictedAsItRuns } from "@/server/planning/planner/asItRuns";
import type { Planner } from "@/server/planning/planner/planner";
import { situationOf } from "@/server/planning/planner/situationOf";
import type { Plan } from "@/solver/plan/plan";
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
 */
export async function planUnder(
  planner: Pick<Planner, "solve">,
  { plan, workload }: { readonly plan: Plan; readonly workload: Workload },
  replaced: ReplacedTraffic,
  signal: AbortSignal,
): Promise<PredictedAsItRuns> {
  const { policy } = plan;
  if (policy.kind !== "cascade")
    return { kind: "not-evaluated", because: `Only cascades are simulated, and this policy is ${policy.kind}.` };
  const planned = situationOf({ ...plan, policy }, workload);
  const { judgeSecondsPerCall, workload: other, requestsPerSecond = planned.requestsPerSecond } = replaced;
  const situation = {
    ...planned,
    requestsPerSecond,
    ...(other === undefined ? {} : { workload: other.content, workloadId: other.id }),
    ...(judgeSecondsPerCall === undefined || planned.judge.kind === "engine"
      ? {}
      : { judge: { ...planned.judge, secondsPerCall: judgeSecondsPerCall } }),
  };
  return predictedAsItRuns(await planner.solve(asItRuns(situation, { ...plan, policy }), { signal }));
}
