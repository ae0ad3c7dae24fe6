import type { Knobs } from "@/solver/cascade/explore/exploration";
import { formatCounted, formatDelta, formatScore, formatSeconds } from "../../ui/format";
import type { PlanEstimate } from "../planning/recommend";
import type { Planning } from "../planning/usePlanning";

/** The figures of a cascade that are compared with floor and budget. */
export interface HeldFigures {
  /** The bound or the mean, whichever the floor applies to. */
  readonly quality: number;
  readonly latencySeconds: number;
}

/**
 * From the exact plan once it answers the knobs, until then from the tables; null where there is neither, or nothing that sustains the
 * rate.
 */
export function heldFigures({ exact, estimate, knobs }: Planning): HeldFigures | null {
  const bound = knobs.qualityConfidence !== null;
  if (exact.current && exact.plan !== null) {
    const { quality, qualityBand, p95Seconds, largestStageP95Seconds } = exact.plan.predictions;
    const latencySeconds = knobs.latency === "end-to-end" ? p95Seconds : largestStageP95Seconds;
    return { quality: bound ? qualityBand.low : quality, latencySeconds };
  }
  if (estimate === null || estimate.latencySeconds === Number.POSITIVE_INFINITY) return null;
  return { quality: bound ? estimate.qualityLow : estimate.quality, latencySeconds: estimate.latencySeconds };
}

/** Relative differences in cost below this count as equal. */
const SAME_COST = 0.005;

/**
 * The losses and gains of a chosen cascade compared with the recommended one, as in `0.8 points lower, +40 ms p95, 2 GPUs more`. Both are
 * figures of the tables.
 */
export function compareChoice(own: PlanEstimate, recommended: PlanEstimate): string {
  const quality = own.quality - recommended.quality;
  const gpus = own.gpusTotal - recommended.gpusTotal;
  const cost = own.costUsdPerRequest / recommended.costUsdPerRequest - 1;
  const parts = [
    ...(Number(Math.abs(quality).toFixed(1)) === 0 ? [] : [`${formatScore(Math.abs(quality))} points ${quality < 0 ? "lower" : "higher"}`]),
    ...latencyPart(own.latencySeconds - recommended.latencySeconds),
    ...(gpus === 0 ? [] : [`${formatCounted(Math.abs(gpus), "GPU")} ${gpus > 0 ? "more" : "fewer"}`]),
    ...(gpus === 0 && Math.abs(cost) >= SAME_COST ? [`${formatDelta(100 * cost, 0)} % cost`] : []),
  ];
  return parts.length === 0 ? "the same figures" : parts.join(", ");
}

function latencyPart(seconds: number): readonly string[] {
  const small = Math.abs(seconds) < 1;
  const text = small ? formatDelta(1000 * seconds, 0) : formatDelta(seconds, 1);
  return text === "±0" ? [] : [`${text} ${small ? "ms" : "s"} p95`];
}

/** By how much a cascade misses floor and budget, one clause each. */
export function missesOf({ quality, latencySeconds }: HeldFigures, { qualityFloor, latencyBudgetSeconds }: Knobs): readonly string[] {
  const under = (qualityFloor ?? 0) - quality;
  const over = latencySeconds - (latencyBudgetSeconds ?? Number.POSITIVE_INFINITY);
  return [
    // Rounded up: a miss by less than one digit is still a miss.
    ...(under > 0 ? [`misses the floor of ${formatScore(qualityFloor)} by ${formatScore(Math.ceil(under * 10 - 1e-6) / 10)} points`] : []),
    ...(over > 0 ? [`takes ${formatSeconds(over)} longer than the budget of ${formatSeconds(latencyBudgetSeconds)}`] : []),
  ];
}
