import type { MilpEngine } from "@/solver/milp/engine";
import { listScheduling, roundRobin } from "./baselineSchedules";
import { type DraftSchedule, draftOf, makespanOf, scheduleOf } from "./draftSchedule";
import { gapOf, type Optimality } from "./optimality";
import type { PlacementProblem, Schedule } from "./placement";
import { combinatorialBound } from "./placementBound";
import { linearContext } from "./placementContext";
import { placementModel, readPlacement } from "./placementModel";
import { searchPlacement } from "./searchPlacement";

/** Relative gap of the ILP (SYSTEMS section 5). */
export const ASKED_GAP = 1e-3;
/**
 * Product of experts and workers up to which a proof without any gap is requested, and beyond which engines decide nothing within seconds.
 */
export const PROVEN_CELLS = 40;
const MOST_CELLS = 120;
const SEARCHES = 8;
/** Relative gain below which engines, with their tolerance on rows, cannot identify a better schedule. */
const LEAST_GAIN = 2e-7;

/** The result of the ILP for one K: its costs are linear, tau_m for each prompt. */
export interface SolvedPlacement {
  readonly schedule: Schedule;
  readonly makespanSeconds: number;
  /** No schedule of linear costs within K and the caps is shorter. */
  readonly lowerBoundSeconds: number;
  /** Whether the engine contributed the schedule or the bound. */
  readonly by: Optimality["by"];
}

/**
 * Solves the ILP of a placement: a search finds a schedule, bounds from counting and from the engine limit its distance from the optimum,
 * and the engine improves it where it can. Small programs are proven optimal, others solved to 0.1 % or until the time is up.
 *
 * @param given initial schedules within K and caps, in addition to the baselines that keep both.
 * @throws RangeError where there are more experts with prompts than K allows sessions on all workers.
 */
export function solvePlacement(
  problem: PlacementProblem,
  given: readonly Schedule[],
  { engine, timeLimitSeconds, share }: { readonly engine: MilpEngine; readonly timeLimitSeconds: number; readonly share: number },
): SolvedPlacement {
  const context = linearContext(problem);
  const leastSeconds = combinatorialBound(context);
  const starts = [listScheduling(problem), roundRobin(problem), ...given].flatMap((each) =>
    each === null ? [] : [draftOf(context, each)],
  );
  if (starts.length === 0) throw new RangeError("There are more experts than K allows sessions");
  const effort = { searches: SEARCHES, share };
  const found = searchPlacement(context, starts, { leastSeconds, effort });
  const before = solvedOf(found, { lowerBoundSeconds: leastSeconds, by: "search" });
  const cells = context.experts.length * context.workers;
  const askedGap = cells <= PROVEN_CELLS ? 0 : ASKED_GAP;
  if (cells > MOST_CELLS || gapOf(before) <= Math.max(askedGap, 1e-9)) return before;

  // A result no better than the found one is useless, and proving that none is better takes less time than proving one optimal.
  const mostSeconds = before.makespanSeconds * (1 - Math.max(askedGap, LEAST_GAIN));
  if (mostSeconds <= leastSeconds) return before;
  const result = engine.solve(placementModel(problem, { leastSeconds, mostSeconds }), { timeLimitSeconds, relativeGap: askedGap });
  if (result.status === "infeasible") return { ...before, lowerBoundSeconds: mostSeconds, by: "milp" };
  if (result.status === "undecided") return before;
  const bound = { lowerBoundSeconds: Math.max(leastSeconds, result.bound ?? leastSeconds), by: "milp" } as const;
  const solved = solvedOf(draftOf(context, readPlacement(problem, result.x)), bound);
  return solved.makespanSeconds < before.makespanSeconds ? solved : solvedOf(found, bound);
}

/** A schedule on the context of linear costs as the result of the ILP, with the lower bound of all within its K and caps. */
export function solvedOf(
  draft: DraftSchedule,
  { lowerBoundSeconds, by }: Pick<SolvedPlacement, "lowerBoundSeconds" | "by">,
): SolvedPlacement {
  const makespanSeconds = makespanOf(draft);
  return { schedule: scheduleOf(draft), makespanSeconds, lowerBoundSeconds: Math.min(lowerBoundSeconds, makespanSeconds), by };
}
