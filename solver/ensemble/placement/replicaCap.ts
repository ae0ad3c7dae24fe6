import type { PlacedExpert, PlacementProblem } from "./placement";

/**
 * Maximum number of workers of an expert: as many as its whole session's time amortises one load each, at least one (MOSAIC, equation 8).
 * All of them where loading takes no time; one where the rule requires it.
 */
export function replicaCap({ prompts, loadSeconds, cost }: PlacedExpert, workers: number, rule: PlacementProblem["replicas"]): number {
  if (rule === "single") return 1;
  if (loadSeconds === 0) return workers;
  const amortised = prompts > 0 ? Math.floor(cost(prompts) / loadSeconds) : 0;
  return Math.min(Math.max(1, amortised), workers);
}
