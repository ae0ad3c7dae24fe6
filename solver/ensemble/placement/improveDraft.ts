import type { Random } from "@/solver/numeric/random";
import { copyDraft, type DraftSchedule, makespanOf, overwriteDraft, respread, sessionsOn, settle, workersOf } from "./draftSchedule";
import { TIME_TOLERANCE } from "./placementContext";

/** Number of passes in which splits settle after a move; the final schedule settles completely. */
const TURNS_OF_MOVE = 3;

/** Limits of a search. */
export interface SearchEffort {
  /** Number of moves that are tried. */
  readonly tries: number;
  /** It ends earlier once the makespan is at most this. */
  readonly enoughSeconds: number;
  /** Initial share of the best makespan by which a schedule may be longer than it; the share falls to zero during the search. */
  readonly allowedLoss: number;
}

/**
 * Improves a schedule by moves of single sessions, tried at random on the workers that end last: to an additional worker, to another
 * worker, off a worker, or in exchange with another worker's; the splits of all experts settle after each. Moves that make it slightly
 * longer are also accepted, less so as the search proceeds (threshold accepting): without them it ends in placements that no single move
 * improves. It returns the best schedule seen, never a longer one.
 */
export function improveDraft(draft: DraftSchedule, { tries, enoughSeconds, allowedLoss }: SearchEffort, random: Random): void {
  settle(draft);
  const best = copyDraft(draft);
  const kept = copyDraft(draft);
  let bestSeconds = makespanOf(best);
  let keptSeconds = bestSeconds;
  let keptSpread = spreadOf(kept);
  for (let attempt = 0; attempt < tries && bestSeconds > enoughSeconds; attempt += 1) {
    if (!move(draft, random)) continue;
    settle(draft, TURNS_OF_MOVE);
    const seconds = makespanOf(draft);
    const spread = spreadOf(draft);
    const allowedSeconds = Math.max(keptSeconds, bestSeconds * (1 + allowedLoss * (1 - attempt / tries)));
    const same = Math.abs(seconds - keptSeconds) <= TIME_TOLERANCE * keptSeconds;
    if (same ? spread < keptSpread * (1 - TIME_TOLERANCE) : seconds <= allowedSeconds) {
      overwriteDraft(kept, draft);
      keptSeconds = seconds;
      keptSpread = spread;
      if (seconds < bestSeconds) {
        overwriteDraft(best, draft);
        bestSeconds = seconds;
      }
    } else overwriteDraft(draft, kept);
  }
  overwriteDraft(draft, best);
  settle(draft);
}

/** Lower for workers with more even or less total load. */
function spreadOf({ busySeconds }: DraftSchedule): number {
  let sum = 0;
  for (const seconds of busySeconds) sum += seconds * seconds;
  return sum;
}

/** One move off a worker that ends last; false where the drawn one is not allowed. */
function move(draft: DraftSchedule, random: Random): boolean {
  const { experts, workers, sessionsPerWorker } = draft.context;
  const latest = makespanOf(draft) * (1 - 1e-3);
  const late = [...draft.busySeconds.keys()].filter((worker) => (draft.busySeconds[worker] ?? 0) >= latest);
  const from = late[random.int(late.length)] ?? 0;
  const place = anyOf(placesOn(draft, from), random);
  if (place === null) return false;
  const on = workersOf(draft, place);
  const others = on.filter((worker) => worker !== from);
  const kind = random.int(4);
  if (kind === 0) {
    if (others.length === 0) return false;
    respread(draft, place, others);
    return true;
  }
  const to = random.int(workers);
  if (to === from || on.includes(to)) return false;
  const room = sessionsOn(draft, to) < sessionsPerWorker;
  if (kind === 1) {
    if (!room || on.length >= (experts[place]?.cap ?? 1)) return false;
    respread(draft, place, [...on, to]);
    return true;
  }
  if (kind === 2) {
    if (!room) return false;
    respread(draft, place, [...others, to]);
    return true;
  }
  const exchanged = anyOf(placesOn(draft, to), random);
  if (exchanged === null) return false;
  const onOfExchanged = workersOf(draft, exchanged);
  if (onOfExchanged.includes(from)) return false;
  // Both are removed before either is added, so that neither is compared with the other.
  const back = [...onOfExchanged.filter((worker) => worker !== to), from];
  respread(draft, exchanged, back);
  respread(draft, place, [...others, to]);
  return true;
}

const placesOn = (draft: DraftSchedule, worker: number): number[] =>
  draft.context.experts.flatMap((_, place) => ((draft.counts[place * draft.context.workers + worker] ?? 0) > 0 ? [place] : []));

const anyOf = <Value>(values: readonly Value[], random: Random): Value | null => values[random.int(values.length)] ?? null;
