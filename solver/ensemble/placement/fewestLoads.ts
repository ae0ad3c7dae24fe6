import { listScheduling, roundRobin } from "./baselineSchedules";
import { copyDraft, type DraftSchedule, draftOf, dropSessions, loadsOf, makespanOf } from "./draftSchedule";
import type { PlacementProblem } from "./placement";

/**
 * A schedule of few loads that is no longer than so many seconds: the draft without the sessions whose prompts others can take, or round-robin or the list
 * schedule, which load each expert once. Of as many loads the shortest, so that neither of these is better in both.
 *
 * @param draft no longer than that itself.
 */
export function fewestLoads(problem: PlacementProblem, draft: DraftSchedule, atMostSeconds: number): DraftSchedule {
  const spared = copyDraft(draft);
  dropSessions(spared, atMostSeconds);
  const whole = [listScheduling(problem), roundRobin(problem)]
    .flatMap((each) => (each === null ? [] : [draftOf(draft.ground, each)]))
    .filter((each) => makespanOf(each) <= atMostSeconds);
  return whole.reduce((best, each) => (isBetter(each, best) ? each : best), spared);
}

function isBetter(one: DraftSchedule, other: DraftSchedule): boolean {
  const fewer = loadsOf(other) - loadsOf(one);
  return fewer > 0 || (fewer === 0 && makespanOf(one) < makespanOf(other));
}
