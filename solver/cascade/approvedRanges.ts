import type { Explorer } from "./explore";
import type { DeployedStage } from "./finalist";

/** How far an approved threshold range may reach from the plan's own value: beyond it the plan's predictions say little. */
const REACH = 15;

/** Share of its saturation rate that a threshold may bring a stage to: where the simulated range of loads ends. */
const HIGHEST_LOAD = 0.9;

/**
 * For each threshold, with the others as planned: the widest range around the plan's value, in steps of one, in which the
 * lower bound of quality keeps the floor and every stage of the deployment keeps up with the requests sent to it.
 */
export function approvedRanges(
  explorer: Explorer,
  plan: { readonly routing: number; readonly deployment: readonly DeployedStage[]; readonly floor: number | null },
): { min: number; max: number }[] {
  const { stages, thresholds, routed, qualityLow } = explorer.routing(plan.routing);
  // A plan that misses the floor itself, set by hand, must not be turned further down.
  const floor = Math.min(plan.floor ?? 0, qualityLow);
  const holds = (stage: number, threshold: number): boolean => {
    const turned = thresholds.map((own, position) => (position === stage ? threshold : own));
    const outlook = explorer.outlook(stages, turned);
    if (outlook.qualityLow < floor) return false;
    return plan.deployment.every(({ saturationRequestsPerSecond }, position) => {
      const share = outlook.routed.share[position] ?? 0;
      const planned = routed.share[position] ?? 0;
      return share <= planned || share * explorer.input.requestsPerSecond <= HIGHEST_LOAD * saturationRequestsPerSecond;
    });
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
