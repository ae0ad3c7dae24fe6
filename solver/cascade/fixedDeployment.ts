import type { Knobs } from "./exploration";
import type { EvaluatedRouting, Explorer } from "./explore";
import { routePrompts } from "./routing";

/**
 * Adds the routing of these thresholds to the exploration without the stages that no request reaches, for which there are no
 * latencies; returns its index.
 */
export function addReached(explorer: Explorer, stages: readonly number[], thresholds: readonly number[]): number {
  const reached = routePrompts(explorer.input.sample, stages, thresholds).share.filter((own) => own > 0).length;
  return explorer.add(stages.slice(0, reached), thresholds.slice(0, reached - 1));
}

/**
 * Latency in seconds of a routing on given GPUs per stage, by its tables: the parallelism within them is the best for the routing.
 * Infinity where a stage does not keep up.
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
