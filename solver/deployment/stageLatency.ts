import { type LoadCurve, rateWithin } from "../engine/loadCurve";
import type { DeploymentProblem, PlacedReplica } from "./problem";

/** A number of replicas with one curve. */
export interface CurveCount {
  readonly curve: LoadCurve;
  readonly count: number;
}

/**
 * The least latency percentile within which replicas serve a rate together, each loaded to where its own latency is exactly that; exact on
 * the curves. At least the latency of the slowest of them under its lightest load, so that each has a share. Infinity where they do
 * not sustain the rate within the loads that were simulated; 0 for a rate of 0.
 */
export function leastSeconds(replicas: readonly CurveCount[], requestsPerSecond: number): number {
  if (requestsPerSecond <= 0) return 0;
  // Replicas whose curves end exactly at their load serve it, whatever the rounding of their rates.
  const rate = (limit: number): number =>
    (1 + 1e-12) * replicas.reduce((sum, { curve, count }) => sum + count * rateWithin(curve, limit), 0);
  const floor = Math.max(0, ...replicas.map(({ curve }) => curve.seconds[0] ?? Number.POSITIVE_INFINITY));
  const levels = [...new Set([floor, ...replicas.flatMap(({ curve }) => [...curve.seconds].filter((level) => level > floor))])].sort(
    (a, b) => a - b,
  );
  const index = levels.findIndex((level) => rate(level) >= requestsPerSecond);
  const high = levels[index];
  const low = levels[index - 1];
  if (high === undefined) return Number.POSITIVE_INFINITY;
  if (low === undefined) return high;
  // Between two levels the rate is linear; at a level itself it may jump.
  const below = rate(low);
  const rise = 2 * (rate((low + high) / 2) - below);
  return below + rise >= requestsPerSecond ? Math.min(high, low + ((high - low) * (requestsPerSecond - below)) / rise) : high;
}

/** Latency per stage with all replicas, and the worst after the loss of any one node (the same where that is not requested). */
export interface StageSeconds {
  readonly seconds: number;
  readonly secondsAfterLoss: number;
}

/** Latency of every stage of a deployment, exact on the curves. */
export function stageSeconds({ stages, constraints }: DeploymentProblem, replicas: readonly PlacedReplica[]): StageSeconds[] {
  return stages.map(({ requestsPerSecond }, stage) => {
    const own = replicas.filter((replica) => replica.stage === stage);
    const seconds = leastSeconds(countByCurve(own), requestsPerSecond);
    if (!constraints.surviveNodeLoss) return { seconds, secondsAfterLoss: seconds };
    const nodes = new Set(own.flatMap(({ placements }) => placements.map(({ node }) => node)));
    let secondsAfterLoss = seconds;
    for (const lost of nodes) {
      const left = own.filter(({ placements }) => placements.every(({ node }) => node !== lost));
      secondsAfterLoss = Math.max(secondsAfterLoss, leastSeconds(countByCurve(left), requestsPerSecond));
    }
    return { seconds, secondsAfterLoss };
  });
}

/** Replicas by their curve. */
export function countByCurve(replicas: readonly Pick<PlacedReplica, "option">[]): CurveCount[] {
  const counts = new Map<LoadCurve, number>();
  for (const { option } of replicas) counts.set(option.curve, (counts.get(option.curve) ?? 0) + 1);
  return [...counts].map(([curve, count]) => ({ curve, count }));
}

/** The objective latency: the largest of the stages', weighted, in the worst case. */
export const largestSeconds = ({ stages }: DeploymentProblem, of: readonly StageSeconds[]): number =>
  Math.max(0, ...stages.map(({ latencyWeight = 1 }, stage) => latencyWeight * (of[stage]?.secondsAfterLoss ?? 0)));
