import { utilisationAt } from "@/solver/engine/saturation";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { Objective } from "@/solver/plan/plan";
import type { DeployedStage } from "../deploy/deployedStage";
import { stageStability } from "../deploy/stageStability";
import type { Explorer } from "../explore/explorer";
import { secondsOnReplicas } from "../tables/capacityTable";
import { type RoutedCascade, relativePercentileOf } from "../tables/deployedRows";

/** Maximum distance of an approved threshold range from the plan's own value: beyond it the plan's predictions are not reliable. */
const REACH = 15;

/** Maximum share of its saturation rate to which a threshold may load a stage: the end of the simulated range of loads. */
const HIGHEST_LOAD = 0.9;

interface Ranged {
  readonly routing: number;
  /** Deployed stages of the explorer's rows. */
  readonly deployment: readonly Pick<DeployedStage, "replicas" | "saturationRequestsPerSecond">[];
  readonly objective: Pick<Objective, "latency" | "qualityFloor" | "latencyBudgetSeconds">;
  readonly profile: Pick<EngineProfile, "errors">;
  /** Objective latency of the plan as it was simulated whole. */
  readonly verifiedSeconds: number;
}

/**
 * For each threshold, with the others as planned: the widest range around the plan's value, in steps of one, that meets three conditions.
 * The lower bound of quality keeps the floor (without a floor: does not fall). Every stage of the deployment sustains the requests sent
 * to it even with the average error of the engine profile. The latency stays within the budget: the tables' latency, corrected by the
 * result of the whole simulation at the plan's own thresholds.
 */
export function approvedRanges(explorer: Explorer, plan: Ranged): { min: number; max: number }[] {
  const { deployment, objective, profile, verifiedSeconds } = plan;
  const planned = explorer.routing(plan.routing);
  const { stages, thresholds, startBelow, qualityLow } = planned;
  // A plan set by hand that already misses the floor or the budget must not move further in that direction.
  const floor = Math.min(objective.qualityFloor ?? 100, qualityLow);
  const budget = objective.latencyBudgetSeconds === null ? null : Math.max(objective.latencyBudgetSeconds, verifiedSeconds);
  const correction = budget === null ? 1 : verifiedSeconds / secondsOn(explorer, planned, plan);
  const ratesOf = (cascade: RoutedCascade): number[] => explorer.rows(cascade).map(({ requestsPerSecond }) => requestsPerSecond);
  const before = ratesOf(planned);
  const holds = (stage: number, threshold: number): boolean => {
    const turned = thresholds.map((own, position) => (position === stage ? threshold : own));
    const outlook = explorer.outlook(stages, turned, startBelow);
    if (outlook.qualityLow < floor) return false;
    const rates = ratesOf({ stages, routed: outlook.routed });
    const keepsUp = deployment.every(({ saturationRequestsPerSecond }, row) => {
      const rate = rates[row] ?? 0;
      const utilisation = utilisationAt(rate, saturationRequestsPerSecond);
      return rate <= (before[row] ?? 0) || (utilisation <= HIGHEST_LOAD && stageStability({ utilisation }, profile) !== "unstable");
    });
    return keepsUp && (budget === null || correction * secondsOn(explorer, { stages, routed: outlook.routed }, plan) <= budget);
  };
  const reach = (stage: number, step: 1 | -1): number => {
    let threshold = thresholds[stage] ?? 0;
    for (let steps = 0; steps < REACH; steps += 1) {
      const next = threshold + step;
      if (next < 0 || next > 100 || !holds(stage, next)) break;
      threshold = next;
    }
    return threshold;
  };
  return thresholds.map((_, stage) => ({ min: reach(stage, -1), max: reach(stage, 1) }));
}

/** Objective latency of a cascade on the replicas of a deployment, by the tables; Infinity where a stage does not sustain its load. */
function secondsOn(explorer: Explorer, cascade: RoutedCascade, { deployment, objective }: Ranged): number {
  const rows = explorer.rows(cascade);
  const near = rows.map((row) => row.near());
  const seconds = near.map(({ tables, lengthFactor }, row) => {
    const rate = rows[row]?.requestsPerSecond ?? 0;
    return lengthFactor * secondsOnReplicas(tables.capacity, rate * lengthFactor, deployment[row]?.replicas ?? []);
  });
  const largest = Math.max(...seconds);
  if (objective.latency === "largest-stage" || largest === Number.POSITIVE_INFINITY) return largest;
  return explorer.compose(
    cascade,
    seconds,
    near.map((own) => ({ relativePercentile: relativePercentileOf(own) })),
  ).seconds;
}
