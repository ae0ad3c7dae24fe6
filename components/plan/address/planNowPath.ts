import { writeView } from "@/components/url/useUrlView";
import type { TrafficToPlan } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { noConstraints, routerNamed } from "./constraintsCodec";
import { planCodec } from "./planCodec";

/** Address of the Plan page with a plan's request, for the current traffic. A trained router stays the one that the plan names. */
export function planNowPath({ inputs }: Pick<Plan, "inputs">, { workloadId, requestsPerSecond }: TrafficToPlan): string {
  const { objective, rateChoice, policyChoice, gateChoice, constraints, judgeEngine, directStart } = inputs;
  const view = {
    ...planCodec.parse(new URLSearchParams()),
    workload: workloadId,
    requestsPerSecond: Number(requestsPerSecond.toPrecision(3)),
    qualityFloor: objective.qualityFloor,
    latencyBudgetSeconds: objective.latencyBudgetSeconds,
    gpus: objective.maxGpus,
    kind: rateChoice === "highest" ? ("highest-rate" as const) : objective.kind,
    policy: policyChoice ?? ("cascade" as const),
    gateChoice: gateChoice ?? ("any" as const),
    slack: objective.slack === undefined ? null : Math.round(100 * objective.slack),
    latency: objective.latency,
    heldFor: objective.qualityConfidence === null ? ("point" as const) : ("bound" as const),
    constraints: constraints ?? noConstraints,
    judge: judgeEngine ?? null,
    router: directStart === undefined ? null : "auc" in directStart ? directStart.auc : routerNamed(directStart.predictor),
  };
  return `/plan?${writeView(planCodec, new URLSearchParams(), view)}`;
}
