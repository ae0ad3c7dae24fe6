import type { Knobs } from "../cascade/explore/exploration";
import { isBetterHigh, type PlanAxis, type PlanFigures } from "../cascade/explore/paretoFront";
import type { ReplicaShape } from "../hardware/parallelism";
import type { SystemStage } from "./system";

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

/** The replicas that a system deploys for its stages, by model. */
export type DeployedModels = readonly Pick<SystemStage, "model" | "replicas">[];

/** What constraints ask for to give a model the replicas that a system has: this shape alone, and at least so many. */
export interface ReplicaRule {
  readonly model: string;
  readonly shape: ReplicaShape;
  readonly count: number;
}

/** The constraints that ask for the replicas of a system's stages; null where a model has several shapes, which constraints cannot ask for. */
export function replicaRules(deployed: DeployedModels): readonly ReplicaRule[] | null {
  const rules = new Map<string, ReplicaRule>();
  for (const { model, replicas } of deployed)
    for (const { shape, count } of replicas) {
      if (count === 0) continue;
      const known = rules.get(model);
      if (known !== undefined && (known.shape.tp !== shape.tp || known.shape.pp !== shape.pp)) return null;
      rules.set(model, { model, shape: { tp: shape.tp, pp: shape.pp }, count: count + (known?.count ?? 0) });
    }
  return [...rules.values()];
}
