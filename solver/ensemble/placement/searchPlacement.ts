import { seededRandom } from "@/solver/numeric/random";
import { copyDraft, type DraftSchedule, makespanOf } from "./draftSchedule";
import { filledWorkers } from "./fillWorkers";
import { improveDraft } from "./improveDraft";
import type { PlacementContext } from "./placementContext";

/** Fixed seed: the same problem is searched in the same way each time. */
const SEED = 1;
/** Initial tolerances of searches, in turn: wide ones find more with few workers, narrow ones with many. */
const ALLOWED_LOSSES = [0.1, 0.03] as const;
const MOST_FILLS = 32;
const LEAST_FILLS = 4;
const MOST_TRIES = 4000;
const LEAST_TRIES = 60;
/** Small problems need fewer tries. */
const TRIES_PER_CELL = 100;

/** Amount of search on a context. */
export interface PlacementEffort {
  /** Number of searches, each from another schedule. */
  readonly searches: number;
  /** Share of the tries of a whole search, 0..1. */
  readonly share: number;
}

/**
 * The best schedule from searches that start at the given schedules and at filled workers. Deterministic, and no longer than any that is
 * given.
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
