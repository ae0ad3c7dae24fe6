import type { SolveRequest } from "@/server/contracts/planRequest";
import type { SolveAnswer } from "@/server/contracts/studio";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { CascadePolicy, Plan, Predictions } from "@/solver/plan/plan";
import { gatesByModel, modelsOf, type SlackPolicy } from "@/solver/plan/policySchema";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import type { Resolved } from "./planningRequest";

/** The planner's prediction for a running plan, under given traffic. */
export type PredictedAsItRuns =
  | { readonly kind: "predicted"; readonly predictions: Predictions }
  /** Requests arrive faster than its replicas answer them: queues grow without bound. */
  | { readonly kind: "overloaded" }
  /** Not all of its replicas can be simulated in their present form. */
  | { readonly kind: "infeasible"; readonly because: string }
  | { readonly kind: "not-evaluated"; readonly because: string };

/**
 * The planner's request for a running plan: its thresholds or tau on its own replicas, which are given, so that no search for shapes and no
 * constraint interferes. These replicas already follow the rules on shapes and nodes under which it was made.
 *
 * @param situation the traffic, the hardware and the judge to predict it for.
 */
export function asItRuns(
  { constraints: _, ...situation }: PlanningSituation,
  plan: Pick<Plan, "deployment" | "inputs"> & { readonly policy: CascadePolicy | SlackPolicy },
): Resolved<SolveRequest> {
  const { policy, inputs } = plan;
  const models = modelsOf(policy);
  const standing = { ...situation, models, running: runningReplicas(plan), topology: "given" } as const;
  const { slack: _slack, ...objective } = inputs.objective;
  if (policy.kind === "slack") {
    // A missed floor or budget is a figure here, and no reason for another tau.
    const unbound = { ...objective, kind: "latency-under-quality", qualityFloor: null, latencyBudgetSeconds: null } as const;
    return { ...standing, objective: unbound, fixed: null, policy: "slack", tau: policy.tau };
  }
  return {
    ...standing,
    ...(policy.gates === undefined ? {} : { gates: gatesByModel(policy) }),
    withIdleStages: true,
    objective,
    fixed: { models, thresholds: policy.thresholds, startBelow: policy.directStart?.below },
  };
}

/** The planner's answer to `asItRuns`. */
export function predictedAsItRuns(answer: SolveAnswer): PredictedAsItRuns {
  if (answer.outcome === "plan") return { kind: "predicted", predictions: answer.plan.predictions };
  switch (answer.kind) {
    case "overloaded":
      return { kind: "overloaded" };
    case "constraints":
    case "no-room":
      return { kind: "infeasible", because: answer.reason };
    case "quality-floor":
    case "latency-budget":
    case "floor-and-budget":
    case "malformed":
      return { kind: "not-evaluated", because: answer.reason };
  }
}
