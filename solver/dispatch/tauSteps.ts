import { qualityLowerBound } from "@/solver/cascade/routing/qualityBound";
import { PLANNED_LOAD } from "@/solver/engine/plannedLoad";
import type { Objective } from "@/solver/plan/plan";
import type { SlackStep, SlackSteps } from "@/solver/plan/planSlack";
import { type ExploreDispatch, exploredTraffic, simulateTaus, TAUS } from "./exploreDispatch";
import type { VerifiedDispatch } from "./searchDispatch";

/** The steps of tau on a plan's engines, and the range of tau that is approved with it. */
export interface TauSteps {
  readonly steps: SlackSteps;
  readonly range: { readonly min: number; readonly max: number };
}

/**
 * Other taus on the engines of a slack dispatch, corrected by what its whole simulation found for the planned tau. The approved range is the widest
 * around the plan's tau, from one simulated tau to another, in which the lower bound of quality keeps the floor, the latency the budget,
 * and every model the load that its engines sustain.
 *
 * @param saturation requests per second at which each model's engines saturate.
 */
export function tauSteps(
  { explorer, workload }: Pick<ExploreDispatch, "explorer" | "workload">,
  { allocation, point, exploredSeconds, verifiedSeconds, bound }: VerifiedDispatch,
  {
    objective,
    saturation,
  }: {
    readonly objective: Pick<Objective, "latency" | "qualityFloor" | "qualityConfidence" | "latencyBudgetSeconds">;
    readonly saturation: readonly number[];
  },
): TauSteps {
  const taus = [...new Set([...TAUS, point.tau])].sort((a, b) => a - b);
  const simulated = simulateTaus(explorer, exploredTraffic({ explorer, workload }), { allocation, taus });
  const correction = verifiedSeconds / exploredSeconds;
  const { requestsPerSecond } = explorer.input;
  const byLargest = objective.latency === "largest-stage";
  // Fewer requests are simulated here than for the plan: their mean quality differs from its by the same amount at every tau.
  const same = simulated.find(({ tau }) => tau === point.tau);
  const shift = same === undefined ? 0 : point.quality - same.quality;
  const shifted = (quality: number): number => Math.min(100, Math.max(0, quality + shift));
  const steps = simulated.map((own): SlackStep & { readonly countedSeconds: number } => {
    // The plan's own tau has the figures of the plan.
    const planned = own.tau === point.tau ? point : null;
    const seconds = correction * (byLargest ? own.largestStageSeconds : own.latencySeconds);
    return {
      value: own.tau,
      quality: planned?.quality ?? shifted(own.quality),
      qualityLow: planned?.qualityLow ?? shifted(qualityLowerBound(own, bound)),
      p95Seconds: planned?.latencySeconds ?? correction * own.latencySeconds,
      share: [...(planned?.share ?? own.share)],
      approved: false,
      countedSeconds: planned === null ? seconds : verifiedSeconds,
    };
  });
  const at = steps.findIndex(({ value }) => value === point.tau);
  // Without a floor quality must not fall; a plan that misses floor or budget already must not move further in that direction.
  const promised = objective.qualityConfidence === null ? point.quality : point.qualityLow;
  const floor = Math.min(objective.qualityFloor ?? 100, promised);
  const budget = Math.max(objective.latencyBudgetSeconds ?? Number.MAX_VALUE, verifiedSeconds);
  const holds = ({ quality, qualityLow, countedSeconds, share }: (typeof steps)[number]): boolean =>
    (objective.qualityConfidence === null ? quality : qualityLow) >= floor &&
    countedSeconds <= budget &&
    share.every((own, model) => own <= (point.share[model] ?? 0) || own * requestsPerSecond <= PLANNED_LOAD * (saturation[model] ?? 0));
  let [first, last] = [at, at];
  while (first > 0 && holds(steps[first - 1] as (typeof steps)[number])) first -= 1;
  while (last < steps.length - 1 && holds(steps[last + 1] as (typeof steps)[number])) last += 1;
  return {
    steps: {
      kind: "tau",
      steps: steps.map(({ countedSeconds: _, ...step }, index) => ({ ...step, approved: index >= first && index <= last })),
    },
    range: { min: steps[first]?.value ?? point.tau, max: steps[last]?.value ?? point.tau },
  };
}
