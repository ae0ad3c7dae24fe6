import { best, meeting, promisedQuality } from "@/solver/cascade/choose/choose";
import { kindWithinSlack, slackApplies, slackLimit } from "@/solver/cascade/choose/slackChoice";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { DispatchExploration, DispatchPoint } from "./dispatchExploration";

/** The answer of slack dispatch to one setting of the knobs. */
export interface DispatchChoice {
  /** null where no point meets floor and budget. */
  readonly chosen: DispatchPoint | null;
  /** The fastest point at the floor, and the latency that the slack allows; null where no slack applies. */
  readonly slack: { readonly limitSeconds: number; readonly fastest: DispatchPoint } | null;
}

/**
 * Chooses allocation and tau of slack dispatch for one setting of the knobs from its simulated points. Fast enough for every step of a
 * slider: nothing is simulated.
 *
 * @param tau the tau to hold, interpolated between the nearest simulated taus; null: the best simulated tau is chosen.
 */
export function chooseDispatch(exploration: DispatchExploration, knobs: Knobs, tau: number | null): DispatchChoice {
  const points = dispatchPoints(exploration, knobs, tau);
  const quality = promisedQuality(knobs);
  if (!slackApplies(knobs)) return { chosen: best(meeting(points, knobs), knobs.kind, quality), slack: null };
  const fastest = best(meeting(points, knobs), "latency-under-quality", quality);
  if (fastest === null) return { chosen: null, slack: null };
  const limitSeconds = slackLimit(fastest.latencySeconds, knobs);
  const within = meeting(points, { ...knobs, latencyBudgetSeconds: limitSeconds });
  return { chosen: best(within, kindWithinSlack(knobs), quality), slack: { limitSeconds, fastest } };
}

/** The points on at most the GPUs of the knobs, with the latency that they count; at one tau where one is given. */
export function dispatchPoints(
  exploration: DispatchExploration,
  { maxGpus, latency }: Pick<Knobs, "maxGpus" | "latency">,
  tau: number | null,
): readonly DispatchPoint[] {
  const within = exploration.points.filter(({ gpusTotal }) => gpusTotal <= maxGpus);
  const fitting = latency === "end-to-end" ? within : within.map((point) => ({ ...point, latencySeconds: point.largestStageSeconds }));
  if (tau === null) return fitting;
  return exploration.allocations.flatMap((_, allocation) => {
    const own = fitting.filter((point) => point.allocation === allocation);
    return interpolated(own, tau) ?? [];
  });
}

/**
 * The figures of one allocation at a tau, linear between the simulated ones beside it; null where one of these is not among the points,
 * as it does not sustain the load.
 *
 * @param points of one allocation, ascending by tau.
 */
function interpolated(points: readonly DispatchPoint[], tau: number): DispatchPoint | null {
  const below = points.findLast((point) => point.tau <= tau);
  const above = points.find((point) => point.tau >= tau);
  if (below === undefined || above === undefined) return null;
  if (below === above) return below;
  const weight = (tau - below.tau) / (above.tau - below.tau);
  const between = (read: (point: DispatchPoint) => number): number => (1 - weight) * read(below) + weight * read(above);
  return {
    ...below,
    tau,
    quality: between(({ quality }) => quality),
    qualityLow: between(({ qualityLow }) => qualityLow),
    latencySeconds: between(({ latencySeconds }) => latencySeconds),
    largestStageSeconds: between(({ largestStageSeconds }) => largestStageSeconds),
    share: below.share.map((_, model) => between(({ share }) => share[model] ?? 0)),
  };
}
