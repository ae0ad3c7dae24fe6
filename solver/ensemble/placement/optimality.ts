import type { PlacementProblem } from "./placement";
import { combinatorialBound } from "./placementBound";
import { type AskedExpert, timedContext } from "./placementContext";

/** Gaps up to which a schedule counts as proven: below it there is only rounding. */
const NO_GAP = 1e-6;

/** What is known of a schedule's distance from the best one within the same K and caps. */
export interface Optimality {
  /** No schedule is shorter, with the experts' own session costs. */
  readonly lowerBoundSeconds: number;
  /** (makespan - bound) / makespan, 0..1: the optimum is at most so much shorter. */
  readonly gap: number;
  /** No gap is left. */
  readonly proven: boolean;
  /** `milp`: the engine found the schedule or its bound. `search`: it was not asked, for speed, or decided nothing within its time. */
  readonly by: "milp" | "search";
}

/**
 * The optimality of a schedule under the experts' own session costs, from a lower bound of the ILP, whose costs are linear (MOSAIC,
 * equations 3 and 10). Where a smaller session costs less per prompt than the whole one, the ILP's bound is too high by at most that
 * ratio: it is lowered by the largest of these, so that it holds for any cost. Counting with the session costs themselves gives another
 * bound, which is higher where small shards lose throughput; the higher of both counts.
 *
 * @param problem with the largest K that was tried.
 * @param makespanSeconds of the schedule, with the session costs.
 */
export function optimalityOf(
  problem: PlacementProblem,
  makespanSeconds: number,
  { lowerBoundSeconds, by }: Pick<Optimality, "lowerBoundSeconds" | "by">,
): Optimality {
  const context = timedContext(problem);
  const ofLinear = lowerBoundSeconds * Math.min(1, ...context.experts.map(leastPromptShare));
  const holding = Math.min(makespanSeconds, Math.max(ofLinear, combinatorialBound(context)));
  const gap = gapOf({ makespanSeconds, lowerBoundSeconds: holding });
  return { lowerBoundSeconds: holding, gap, proven: gap <= NO_GAP, by };
}

/** (makespan - bound) / makespan, 0 where there is nothing to do. */
export const gapOf = ({
  makespanSeconds,
  lowerBoundSeconds,
}: {
  readonly makespanSeconds: number;
  readonly lowerBoundSeconds: number;
}): number => (makespanSeconds > 0 ? Math.max(0, makespanSeconds - lowerBoundSeconds) / makespanSeconds : 0);

/** The least seconds per prompt of a session of any size relative to those of the whole session, at most 1. */
function leastPromptShare({ prompts, cost, leastPerPrompt }: AskedExpert): number {
  const whole = cost(prompts) / prompts;
  return whole === 0 ? 1 : leastPerPrompt(prompts) / whole;
}

/** One phrase for an operator: `proven optimal`, or how much shorter the optimum may be and what the schedule was found by. */
export function optimalityText({ gap, proven, by }: Pick<Optimality, "gap" | "proven" | "by">): string {
  if (proven) return "proven optimal";
  const found = by === "search" ? "found by search alone, not proven optimal" : "not proven optimal";
  return `${found}: the optimum is at most ${Number((100 * gap).toPrecision(2))} % shorter`;
}
