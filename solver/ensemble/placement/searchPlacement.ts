import { seededRandom } from "@/solver/numeric/random";
import { dataConcurrent, listScheduling, roundRobin } from "./baselineSchedules";
import { copyDraft, type DraftSchedule, draftOf, dropSessions, makespanOf, settle } from "./draftSchedule";
import { filledWorkers } from "./fillWorkers";
import { improveDraft } from "./improveDraft";
import type { PlacementProblem, Schedule } from "./placement";
import { keepsLimits, type PlacementContext, TIME_TOLERANCE, timedContext } from "./placementContext";

/** The same problem is searched in the same way each time. */
const SEED = 1;
/** Losses that searches begin with, in turn: wide ones find more where there are few workers, narrow ones where there are many. */
const ALLOWED_LOSSES = [0.1, 0.03] as const;
const MOST_FILLS = 32;
const LEAST_FILLS = 4;
const MOST_TRIES = 4000;
const LEAST_TRIES = 60;
/** Small problems are searched through sooner. */
const TRIES_PER_CELL = 100;

/** How much is tried on a context. */
export interface PlacementEffort {
  /** Searches, each from another schedule. */
  readonly searches: number;
  /** Share of the tries of a whole search, 0..1. */
  readonly share: number;
}

/**
 * The best schedule of those found by searching from the schedules given and from filled workers. Deterministic, and no longer than any that is given.
 *
 * @param given schedules within the context's K and caps, at least one.
 */
export function searchPlacement(
  context: PlacementContext,
  given: readonly DraftSchedule[],
  { leastSeconds, effort }: { readonly leastSeconds: number; readonly effort: PlacementEffort },
): DraftSchedule {
  const random = seededRandom(SEED);
  const cells = context.experts.length * context.workers;
  const atMostSeconds = Math.min(...given.map(makespanOf));
  const fills = Math.max(LEAST_FILLS, Math.min(MOST_FILLS, Math.round(40_000 / cells)));
  const filled = Array.from({ length: fills }, () => filledWorkers(context, { leastSeconds, atMostSeconds }, random));
  const starts = [...given, ...filled.flatMap((draft) => (draft === null ? [] : [draft]))]
    .map(copyDraft)
    .sort((a, b) => makespanOf(a) - makespanOf(b))
    .slice(0, effort.searches);
  const tries = Math.max(LEAST_TRIES, Math.round(effort.share * Math.min(MOST_TRIES, TRIES_PER_CELL * cells, 1_500_000 / cells)));
  const enoughSeconds = leastSeconds * (1 + 1e-9);
  for (const [index, draft] of starts.entries()) {
    improveDraft(draft, { tries, enoughSeconds, allowedLoss: ALLOWED_LOSSES[index % ALLOWED_LOSSES.length] ?? 0 }, random);
    if (makespanOf(draft) <= enoughSeconds) return draft;
  }
  return starts.reduce((best, draft) => (makespanOf(draft) < makespanOf(best) ? draft : best));
}

const SEARCHES = 4;
/** Of the tries of a search of linear costs: these ask costs one by one. */
const SHARE = 0.3;

/**
 * The exact repair (SYSTEMS section 5): schedules are timed with the session cost as it is, in which small shards lose throughput, the splits of experts over
 * their workers are made exact, and the best goes on to be searched. The baselines that keep K and caps are among them, so that none of them is shorter.
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
  dropSessions(shortest, makespanOf(shortest) * (1 + TIME_TOLERANCE));
  return shortest;
}
