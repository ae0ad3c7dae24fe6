import { dataConcurrent, listScheduling, roundRobin } from "./baselineSchedules";
import { copyDraft, type DraftSchedule, draftOf, dropSessions, makespanOf, settle } from "./draftSchedule";
import type { PlacementProblem, Schedule } from "./placement";
import { keepsLimits, TIME_TOLERANCE, timedContext } from "./placementContext";
import { searchPlacement } from "./searchPlacement";
import { shiftPrompts } from "./shiftPrompts";

const SEARCHES = 4;
/** Share of the tries of a search with linear costs: these evaluate costs one by one. */
const SHARE = 0.3;

/**
 * The exact repair (SYSTEMS section 5): schedules are timed with the true session cost, in which small shards lose throughput, the splits
 * of experts over their workers are made exact, and the best is searched further. The baselines that keep K and caps are included, so that
 * none of them is shorter.
 *
 * @param given schedules within K and caps, at least one.
 */
export function retimePlacement(problem: PlacementProblem, given: readonly Schedule[], share: number): DraftSchedule {
  const context = timedContext(problem);
  const shards: Schedule = { ...dataConcurrent(problem), barrier: false };
  const baselines = [listScheduling(problem), roundRobin(problem), shards].flatMap((each) =>
    each !== null && keepsLimits(context, each) ? [each] : [],
  );
  const timed = [...given, ...baselines].flatMap((schedule) => {
    const asGiven = draftOf(context, schedule);
    const settled = copyDraft(asGiven);
    settle(settled);
    return [settled, asGiven];
  });
  const best = searchPlacement(context, timed, { leastSeconds: 0, effort: { searches: SEARCHES, share: SHARE * share } });
  const shortest = timed.reduce((least, draft) => (makespanOf(draft) < makespanOf(least) ? draft : least), best);
  shiftPrompts(shortest);
  dropSessions(shortest, makespanOf(shortest) * (1 + TIME_TOLERANCE));
  return shortest;
}
