import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mean } from "@/solver/numeric/quantile";
import type { Pickable } from "../routing/qualityBound";
import { type PlanningSample, routePrompts } from "../routing/routing";
import { product, startsAtLevel, usefulThresholds } from "../routing/routingGrid";
import type { ExploreInput } from "./explorer";

/** Routings behind the bound on quality; see `selectionCritical`. */
const BOUND_ROUTINGS = 120;

/** Shares of the prompts that later starts in the bound on quality leave out of each stage, at each of its thresholds. */
const BOUND_START_LEVELS: readonly number[] = [0.35, 0.7];

/** Routings of all cascades on a coarse grid: the family that the planner picks from, for the bound on quality. */
export function boundFamily({ sample, shapes, directStart }: ExploreInput, cascades: readonly (readonly number[])[]): Pickable[] {
  const longest = cascades.at(-1)?.length ?? 1;
  const short = Math.min(8, BOUND_ROUTINGS / cascades.length);
  const workPerRequest = sample.models.map((_, model) => gpuSecondsAlone(sample, model, shapes[model]?.[0]));
  return cascades.flatMap((stages) => {
    // The whole ladder has most thresholds to choose from and gets the points that shorter cascades do not use.
    const points = stages.length === longest ? BOUND_ROUTINGS - cascades.length * short : short;
    const perStage = Math.max(1, Math.floor(points ** (1 / Math.max(1, stages.length - 1))));
    const choices = stages.slice(0, -1).map((model) => evenly(usefulThresholds(sample.judged[model] ?? new Float64Array()), perStage));
    const starts =
      directStart === undefined || stages.length === 1 ? [] : BOUND_START_LEVELS.map((level) => startsAtLevel(sample, stages, level));
    const thresholds = product(choices);
    // A router alone, whose answers are accepted unjudged, has thresholds of 0.
    const later = starts.flatMap((start) => [...thresholds, stages.slice(1).map(() => 0)].map((own) => ({ own, start })));
    return [...thresholds.map((own) => ({ own, start: 0 })), ...later].map(({ own, start }) => {
      const { accepted, quality, share } = routePrompts(sample, stages, own, start);
      const cost = stages.reduce((sum, model, stage) => sum + (share[stage] ?? 0) * (workPerRequest[model] ?? 0), 0);
      return { accepted, quality, cost };
    });
  });
}

/** GPU time of one request alone on a model's smallest replica: a proxy for the cost of routings, before tables exist. */
function gpuSecondsAlone(sample: PlanningSample, model: number, smallest: ShapedReplica | undefined): number {
  if (smallest === undefined) return Number.POSITIVE_INFINITY;
  const { tp, pp } = smallest.shape;
  return mean(sample.outputTokens[model] ?? []) * smallest.replica.stepTime.decodeBaseSeconds(1) * tp * pp;
}

/** `count` of the values, evenly spaced, without the ends where there are enough. */
function evenly(values: readonly number[], count: number): number[] {
  if (values.length <= count) return [...values];
  return Array.from({ length: count }, (_, index) => values[Math.floor(((index + 0.5) * values.length) / count)] ?? 0);
}
