import type { Knobs } from "../cascade/explore/exploration";
import { isBetterHigh, type PlanAxis, type PlanFigures } from "../cascade/explore/paretoFront";

/** A baseline that is better than a plan on its objective. */
export interface BetterBaseline<Baseline> {
  readonly baseline: Baseline;
  /** The figure of the objective. */
  readonly axis: Extract<PlanAxis, "quality" | "latency" | "cost">;
  /** By how much it is better, on that axis; above 0. */
  readonly by: number;
}

/**
 * The baseline that beats a plan on the objective by most, within floor, budget and GPUs; null where none does. A slack turns the fastest plan
 * into the highest quality within its limit.
 *
 * @param objective `limitSeconds`: the latency that the slack allows; null where none applies.
 * @param plan its quality, like the baselines', is the value that the floor applies to.
 */
export function betterBaseline<Baseline extends { readonly figures: PlanFigures }>(
  objective: Pick<Knobs, "kind" | "qualityFloor" | "latencyBudgetSeconds" | "slack" | "maxGpus"> & { readonly limitSeconds: number | null },
  plan: PlanFigures,
  baselines: readonly Baseline[],
): BetterBaseline<Baseline> | null {
  const { qualityFloor, latencyBudgetSeconds, limitSeconds, maxGpus } = objective;
  const budget = Math.min(latencyBudgetSeconds ?? Number.MAX_VALUE, limitSeconds ?? Number.MAX_VALUE);
  const axis = axisOf(objective);
  const gain = ({ figures }: Baseline): number => (isBetterHigh(axis) ? figures[axis] - plan[axis] : plan[axis] - figures[axis]);
  let found: BetterBaseline<Baseline> | null = null;
  for (const baseline of baselines) {
    const { quality, latency, gpus } = baseline.figures;
    const isAllowed = quality >= (qualityFloor ?? 0) && latency <= budget && gpus <= maxGpus;
    const by = gain(baseline);
    if (isAllowed && by > (found?.by ?? 0)) found = { baseline, axis, by };
  }
  return found;
}

function axisOf({ kind, slack = 0 }: Pick<Knobs, "kind" | "slack">): BetterBaseline<unknown>["axis"] {
  if (kind === "cost-under-both") return "cost";
  return kind === "quality-under-latency" || slack > 0 ? "quality" : "latency";
}
