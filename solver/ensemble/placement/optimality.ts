import type { PlacedExpert } from "./placement";
import { promptSeconds } from "./placementContext";

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
 * ratio: the bound is lowered by the largest of these, so that it holds for any cost.
 *
 * @param makespanSeconds of the schedule, with the session costs.
 */
export function optimalityOf(
  experts: readonly PlacedExpert[],
  makespanSeconds: number,
  { lowerBoundSeconds, by }: Pick<Optimality, "lowerBoundSeconds" | "by">,
): Optimality {
  const holding = Math.min(makespanSeconds, lowerBoundSeconds * Math.min(1, ...experts.map(leastPromptShare)));
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
function leastPromptShare(expert: PlacedExpert): number {
  const whole = expert.prompts > 0 ? promptSeconds(expert) : 0;
  if (whole === 0) return 1;
  let least = whole;
  for (let prompts = 1; prompts < expert.prompts; prompts += 1) least = Math.min(least, expert.cost(prompts) / prompts);
  return least / whole;
}

/** One phrase for an operator: `proven optimal`, or how much shorter the optimum may be and what the schedule was found by. */
export function optimalityText({ gap, proven, by }: Pick<Optimality, "gap" | "proven" | "by">): string {
  if (proven) return "proven optimal";
  const found = by === "search" ? "found by search alone, not proven optimal" : "not proven optimal";
  return `${found}: the optimum is at most ${Number((100 * gap).toPrecision(2))} % shorter`;
}
