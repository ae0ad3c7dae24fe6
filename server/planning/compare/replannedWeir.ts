import type { PlannedCascade } from "@/solver/baselines/allBaselines";
import { type ComparisonContext, type Planned, planAt } from "./compareGround";

type WithPlan = Extract<Planned, { readonly outcome: "plan" }>;

/**
 * Weir's plan for any rate. One without a plan has that of the highest lower rate that was asked: it is kept.
 *
 * @param first the plan at the first rate.
 */
export function replannedWeir(ground: ComparisonContext, floor: number, first: WithPlan): (requestsPerSecond: number) => WithPlan | null {
  const known = new Map<number, WithPlan | null>([[first.requestsPerSecond, first]]);
  return (requestsPerSecond) => {
    if (!known.has(requestsPerSecond)) {
      const planned = planAt(ground, floor, requestsPerSecond);
      known.set(requestsPerSecond, planned.outcome === "plan" ? planned : null);
    }
    const kept = [...known].filter(([rate, planned]) => planned !== null && rate <= requestsPerSecond).sort(([a], [b]) => b - a)[0];
    return known.get(requestsPerSecond) ?? kept?.[1] ?? null;
  };
}

/** The plan as baselines are made from it. */
export function cascadeOf({ explorer, plan: { policy } }: WithPlan): PlannedCascade {
  const { models } = explorer.input.sample;
  return {
    stages: policy.stages.map(({ model }) => models.indexOf(model)),
    thresholds: policy.thresholds,
    startBelow: policy.directStart?.below ?? 0,
  };
}
