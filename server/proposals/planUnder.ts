import type { Planner } from "@/server/planning/planner";
import type { SolveRequest } from "@/server/planning/planningRequest";
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
  const { model: judgeModel, engine, secondsPerCall, usdPerCall } = policy.judge;
  const judgeEngine = inputs.judgeEngine ?? (engine === undefined ? undefined : { model: judgeModel, ...engine });
  const directStart = inputs.directStart ?? policy.directStart?.router;
  const { userCards, engineProfile, objective } = inputs;
  const models = policy.stages.map(({ model }) => model);
  const request: SolveRequest = {
    workload: replaced.workload?.content ?? workload,
    workloadId: replaced.workload?.id ?? inputs.workload.id,
    cluster: inputs.cluster,
    requestsPerSecond: replaced.requestsPerSecond ?? inputs.workload.requestsPerSecond,
    models,
    ...(userCards === undefined ? {} : { userCards }),
    ...(engineProfile === undefined ? {} : { engineProfile }),
    judge:
      judgeEngine === undefined
        ? { kind: "fixed", secondsPerCall: replaced.judgeSecondsPerCall ?? secondsPerCall, usdPerCall }
        : { kind: "engine", ...judgeEngine },
    ...(directStart === undefined ? {} : { directStart: { auc: directStart.auc } }),
    running: runningReplicas(plan),
    constraints: { ...planConstraintsSchema.parse({}), maxChangedReplicas: 0 },
    objective,
    fixed: { models, thresholds: policy.thresholds, startBelow: policy.directStart?.below },
  };
  const answer = await planner.solve(request, { signal });
  return answer.outcome === "plan" ? answer.plan.predictions : null;
}
