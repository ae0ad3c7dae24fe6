import type { Explorer } from "../explore/explorer";
import { type DeployedRouting, thresholdSettings } from "./thresholdSettings";

/** Maximum distance of an approved threshold range from the plan's own value: beyond it the plan's predictions are not reliable. */
const REACH = 15;

/**
 * For each threshold, with the others as planned: the widest range around the plan's value, in steps of one, that keeps all conditions. A
 * threshold above 0 stays above it: at 0 nothing would be judged, and the judge could go out of service.
 */
export function approvedRanges(explorer: Explorer, plan: DeployedRouting): { min: number; max: number }[] {
  const { thresholds } = explorer.routing(plan.routing);
  const settingAt = thresholdSettings(explorer, plan);
  const holds = (stage: number, threshold: number): boolean =>
    settingAt(thresholds.map((own, position) => (position === stage ? threshold : own))).keeps();
  const reach = (stage: number, step: 1 | -1): number => {
    let threshold = thresholds[stage] ?? 0;
    const least = Math.min(1, threshold);
    for (let steps = 0; steps < REACH; steps += 1) {
      const next = threshold + step;
      if (next < least || next > 100 || !holds(stage, next)) break;
      threshold = next;
    }
    return threshold;
  };
  return thresholds.map((_, stage) => ({ min: reach(stage, -1), max: reach(stage, 1) }));
}
