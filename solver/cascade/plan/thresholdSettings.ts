import { PLANNED_LOAD } from "@/solver/engine/plannedLoad";
import { utilisationAt } from "@/solver/engine/saturation";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { Objective } from "@/solver/plan/plan";
import type { DeployedStage } from "../deploy/deployedStage";
import { stageStability } from "../deploy/stageStability";
import type { Explorer } from "../explore/explorer";
import { secondsOnReplicas } from "../tables/capacityTable";
import { type RoutedCascade, relativePercentileOf } from "../tables/deployedRows";

/** A routing on its replicas, and what was asked of it. */
export interface DeployedRouting {
  /** Index in the exploration. */
  readonly routing: number;
  /** Deployed stages of the explorer's rows. */
  readonly deployment: readonly Pick<DeployedStage, "replicas" | "saturationRequestsPerSecond">[];
  readonly objective: Pick<Objective, "latency" | "qualityFloor" | "latencyBudgetSeconds">;
  readonly profile: Pick<EngineProfile, "errors">;
  /** Objective latency of the plan as it was simulated whole. */
  readonly verifiedSeconds: number;
}

/** One setting of the thresholds on the deployment of a plan. */
export interface ThresholdSetting {
  readonly thresholds: readonly number[];
  readonly quality: number;
  /** Lower confidence bound of `quality` on fresh traffic. */
  readonly qualityLow: number;
  /** Share of the requests that reach each stage. */
  readonly share: readonly number[];
  /** Objective latency by the tables, corrected by the result of the whole simulation at the plan's own thresholds; Infinity: overloaded. */
  seconds(): number;
  /**
   * Whether the setting keeps three conditions. The lower bound of quality keeps the floor (without a floor: does not fall). Every stage
   * sustains the requests sent to it even with the average error of the engine profile. The latency stays within the budget.
   */
  keeps(): boolean;
}

/** Evaluates other thresholds of a plan's cascade on the plan's own replicas, by the tables. */
export function thresholdSettings(explorer: Explorer, plan: DeployedRouting): (thresholds: readonly number[]) => ThresholdSetting {
  const { deployment, objective, profile, verifiedSeconds } = plan;
  const planned = explorer.routing(plan.routing);
  const { stages, startBelow } = planned;
  // A plan set by hand that already misses the floor or the budget must not move further in that direction.
  const floor = Math.min(objective.qualityFloor ?? 100, planned.qualityLow);
  const budget = objective.latencyBudgetSeconds === null ? null : Math.max(objective.latencyBudgetSeconds, verifiedSeconds);
  const ratesOf = (cascade: RoutedCascade): number[] => explorer.rows(cascade).map(({ requestsPerSecond }) => requestsPerSecond);
  const before = ratesOf(planned);
  let known: number | null = null;
  const correction = (): number => {
    known ??= verifiedSeconds / secondsOn(explorer, planned, plan);
    return known;
  };
  const sustains = (cascade: RoutedCascade): boolean => {
    const rates = ratesOf(cascade);
    return deployment.every(({ saturationRequestsPerSecond }, row) => {
      const rate = rates[row] ?? 0;
      const utilisation = utilisationAt(rate, saturationRequestsPerSecond);
      return rate <= (before[row] ?? 0) || (utilisation <= PLANNED_LOAD && stageStability({ utilisation }, profile) !== "unstable");
    });
  };
  return (thresholds) => {
    const { qualityLow, routed } = explorer.outlook(stages, thresholds, startBelow);
    const cascade = { stages, routed };
    let own: number | null = null;
    const seconds = (): number => {
      own ??= correction() * secondsOn(explorer, cascade, plan);
      return own;
    };
    return {
      thresholds,
      quality: routed.quality,
      qualityLow,
      share: routed.share,
      seconds,
      keeps: () => qualityLow >= floor && sustains(cascade) && (budget === null || seconds() <= budget),
    };
  };
}

/**
 * Objective latency of a cascade on the replicas of a deployment, by the tables; Infinity where a stage does not sustain its load, or where no
 * request reaches one: a stage without requests has no tables.
 */
function secondsOn(explorer: Explorer, cascade: RoutedCascade, { deployment, objective }: DeployedRouting): number {
  const rows = explorer.rows(cascade);
  if (rows.some(({ requestsPerSecond }) => requestsPerSecond === 0)) return Number.POSITIVE_INFINITY;
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
