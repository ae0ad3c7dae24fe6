import { type StartBelow, shortestStart, startScores } from "@/solver/plan/directStart";
import { routePrompts } from "../routing/routing";
import type { Knobs } from "./exploration";
import type { EvaluatedRouting, Explorer } from "./explorer";

/** A routing set by hand, as indices into the exploration's models. */
export interface FixedRouting {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
  readonly startBelow: StartBelow;
}

/**
 * Adds the routing with these thresholds to the exploration, without the stages that no request reaches, which have no
 * latencies; returns its index.
 */
export function addReached(
  explorer: Explorer,
  stages: readonly number[],
  thresholds: readonly number[],
  startBelow: StartBelow = 0,
): number {
  const { share } = routePrompts(explorer.input.sample, stages, thresholds, startBelow);
  const reached = stages.filter((_, stage) => (share[stage] ?? 0) > 0);
  const ofReached = (scores: readonly number[]): number[] =>
    scores.filter((_, stage) => reached.slice(0, -1).includes(stages[stage] ?? -1));
  return explorer.add(reached, ofReached(thresholds), shortestStart(ofReached(startScores(startBelow, stages.length))));
}

/**
 * Latency in seconds of a routing on given GPUs per stage, by its tables: the parallelism within them is the best for the routing.
 * Infinity where a stage does not sustain its load.
 */
export function latencyOnGpus(
  { tables, weights, judgeSeconds }: EvaluatedRouting,
  gpus: readonly number[],
  latency: Knobs["latency"],
): number {
  const seconds = tables.map((table, stage) => table[(gpus[stage] ?? 0) - 1] ?? Number.POSITIVE_INFINITY);
  const largest = Math.max(...seconds);
  if (latency === "largest-stage" || largest === Number.POSITIVE_INFINITY) return largest;
  return seconds.reduce((sum, own, stage) => sum + own * (weights[stage] ?? 0), judgeSeconds);
}
