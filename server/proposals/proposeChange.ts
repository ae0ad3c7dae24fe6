import type { SolveRequest } from "@/server/contracts/planRequest";
import type { Proposal } from "@/server/contracts/studio";
import type { TrafficToPlan } from "@/server/contracts/studio/promise";
import { plannedJudgeEngine } from "@/server/planning/planner/situationOf";
import type { Planning } from "@/server/planning/planningService";
import { startRouterOf } from "@/solver/plan/directStart";
import { adviseChange, type ChangedStage, type PlanNow } from "@/solver/plan/driftProposal";
import type { Plan } from "@/solver/plan/plan";
import { directStartOf, isByThresholds } from "@/solver/plan/policySchema";
import { type ReplicaChange, replicaChange, runningReplicas } from "@/solver/plan/runningReplicas";
import { boundText, secondsText } from "@/solver/wording/wording";

/** How long traffic is expected to stay as it is, in engine seconds: an hour, about as far as the recent past tells. */
const HORIZON_SECONDS = 3600;

export interface ChangeAsked {
  readonly plan: Plan;
  readonly clusterId: string;
  readonly traffic: TrafficToPlan;
  /** Engine seconds until a started replica serves. */
  readonly restartSeconds: number;
  readonly signal: AbortSignal;
}

/** A plan that is worth the change, with its reasons, or why there is none. */
export type Change =
  | ({ readonly outcome: "worthwhile"; readonly proposed: Plan } & Pick<Proposal, "reason" | "gain" | "change">)
  | { readonly outcome: "none"; readonly says: string };

/**
 * Plans again for the present traffic, with the request of the plan in force and a preference for what runs, and compares the result with
 * the plan in force under the same traffic: the same thresholds or tau, the same replicas, simulated by the same planner.
 */
export async function proposeChange(planning: Pick<Planning, "solve" | "predict">, asked: ChangeAsked): Promise<Change> {
  const { plan, clusterId, traffic, restartSeconds, signal } = asked;
  const { policy, inputs } = plan;
  if (policy.kind !== "cascade" && policy.kind !== "slack")
    return none(`The policy in force is ${policy.kind}; only cascades and slack dispatch are planned again.`);
  const judge = plannedJudgeEngine(plan);
  // Older plans record a direct start only if they have one.
  const planned = directStartOf(policy);
  const directStart = inputs.directStart ?? (planned && startRouterOf(planned.router));
  const policyChoice =
    inputs.policyChoice ??
    (policy.kind === "slack" ? ("slack" as const) : isByThresholds(policy) ? undefined : ("cascade-routing" as const));
  const running = runningReplicas(plan);
  const request: SolveRequest = {
    workloadId: traffic.workloadId,
    requestsPerSecond: traffic.requestsPerSecond,
    clusterId,
    objective: inputs.objective,
    fixed: null,
    ...(policyChoice === undefined ? {} : { policy: policyChoice }),
    ...(inputs.gateChoice === undefined ? {} : { gateChoice: inputs.gateChoice }),
    ...(inputs.constraints === undefined ? {} : { constraints: inputs.constraints }),
    ...(judge === undefined ? {} : { judge: { kind: "engine", ...judge } }),
    ...(directStart === undefined ? {} : { directStart }),
  };
  const anew = await planning.solve({ ...request, running }, { signal });
  if (anew.outcome === "infeasible") return none(`No plan keeps what was asked under this traffic: ${anew.reason}`);
  if (anew.plan.topologyHash === plan.topologyHash && anew.plan.policyHash === plan.policyHash) {
    const { p95Seconds, qualityBand } = anew.plan.predictions;
    const promises = `a p95 of ${secondsText(p95Seconds)} and a quality of ${boundText(qualityBand.low)} at least under it`;
    return none(`A new plan for this traffic, which prefers what runs, is the plan in force: ${promises}.`);
  }
  const asItRuns = await planning.predict(plan, request, { signal });
  if (asItRuns.kind === "infeasible" || asItRuns.kind === "not-evaluated")
    return none(`What the plan in force does under this traffic could not be simulated: ${asItRuns.because}`);
  const kept = asItRuns.kind === "predicted" ? { ...plan, predictions: asItRuns.predictions } : null;
  const change = replicaChange(running, runningReplicas(anew.plan));
  const proposed = promiseOf(anew.plan);
  const { objective } = inputs;
  const advice = adviseChange({
    running: kept === null ? doesNotKeepUp(plan, proposed) : promiseOf(kept),
    proposed,
    stages: changedStages(kept ?? plan, change),
    restartSeconds,
    requestsPerSecond: traffic.requestsPerSecond,
    horizonSeconds: HORIZON_SECONDS,
    kind: objective.kind,
    qualityFloor: objective.qualityFloor,
    latencyBudgetSeconds: objective.latencyBudgetSeconds,
  });
  if (!advice.worthwhile) return none(advice.reason);
  return {
    outcome: "worthwhile",
    proposed: anew.plan,
    reason: advice.reason,
    gain: { ...advice.gain, latencySeconds: kept === null ? null : advice.gain.latencySeconds },
    change: { started: change.started.length, stopped: change.stopped.length, seconds: advice.changeSeconds },
  };
}

const none = (says: string): Change => ({ outcome: "none", says });

/** The values that are compared with floor and budget. */
function promiseOf({ predictions, inputs: { objective } }: Plan): PlanNow {
  const { quality, qualityBand, p95Seconds, largestStageP95Seconds, costUsdPerHour } = predictions;
  return {
    latencySeconds: objective.latency === "largest-stage" ? largestStageP95Seconds : p95Seconds,
    quality: objective.qualityConfidence === null ? quality : qualityBand.low,
    costUsdPerHour,
  };
}

/** A plan that the planner finds no latency for under this traffic. Its quality is not known: it is taken to be no worse than the other's. */
const doesNotKeepUp = ({ predictions }: Plan, { quality }: PlanNow): PlanNow => ({
  latencySeconds: Number.POSITIVE_INFINITY,
  quality,
  costUsdPerHour: predictions.costUsdPerHour,
});

/** Load and saturation of the running plan's stages, and how many of their replicas stop. */
function changedStages({ deployment, predictions }: Plan, { stopped }: ReplicaChange): ChangedStage[] {
  return predictions.stages.map(({ model, requestsPerSecond, utilisation }) => ({
    replicas: runningReplicas({ deployment }).filter((replica) => replica.model === model).length,
    restarted: stopped.filter((replica) => replica.model === model).length,
    requestsPerSecond,
    saturationRequestsPerSecond: utilisation > 0 ? requestsPerSecond / utilisation : Number.POSITIVE_INFINITY,
  }));
}
