import type { Random } from "@/solver/numeric/random";
import { type DraftSchedule, emptyDraft, makespanOf, setPrompts } from "./draftSchedule";
import { fewestSessions } from "./placementBound";
import type { PlacementContext } from "./placementContext";

/** Number of bisection steps of the target makespan. */
const HALVINGS = 16;

/** Which of the experts that fit a worker completely goes there first. */
const preferences = ["longest", "shortest", "any"] as const;
type Preference = (typeof preferences)[number];

/**
 * A schedule from a target makespan, lowered by bisection until it cannot be reached: workers are filled in turn, experts go completely
 * where they fit, and one that does not is split and continues on the next worker. null: no target up to `atMostSeconds` was reached.
 *
 * @param random breaks ties of the next choice: other streams give other schedules.
 */
export function filledWorkers(
  context: PlacementContext,
  { leastSeconds, atMostSeconds }: { readonly leastSeconds: number; readonly atMostSeconds: number },
  random: Random,
): DraftSchedule | null {
  const preference = preferences[random.int(preferences.length)] ?? "any";
  let best: DraftSchedule | null = null;
  let fails = leastSeconds;
  let aimed = atMostSeconds;
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const aim = halving === 0 ? atMostSeconds : (fails + aimed) / 2;
    const found = filledUntil(context, aim, { preference, random });
    if (found !== null) {
      aimed = aim;
      if (best === null || makespanOf(found) < makespanOf(best)) best = found;
    } else if (halving === 0) return null;
    else fails = aim;
  }
  return best;
}

/** The possible share of an expert on the worker that is being filled. */
interface Portion {
  readonly place: number;
  readonly prompts: number;
  readonly seconds: number;
  /** Whether none of it remains for other workers. */
  readonly whole: boolean;
  /** Seconds of its remaining part before. */
  readonly leftSeconds: number;
}

function filledUntil(
  context: PlacementContext,
  untilSeconds: number,
  { preference, random }: { readonly preference: Preference; readonly random: Random },
): DraftSchedule | null {
  const { experts, workers, sessionsPerWorker } = context;
  if (experts.some((expert) => fewestSessions(expert, untilSeconds) === Number.POSITIVE_INFINITY)) return null;
  const draft = emptyDraft(context);
  const left = experts.map(({ prompts }) => prompts);
  const capLeft = experts.map(({ cap }) => cap);
  const shares = experts.map((expert) => expert.most(untilSeconds - expert.loadSeconds));
  let carried: number | null = null;

  const portionOf = (place: number, roomSeconds: number): Portion[] => {
    const expert = experts[place];
    const asked = left[place] ?? 0;
    if (expert === undefined || asked === 0) return [];
    const prompts = Math.min(asked, expert.most(roomSeconds - expert.loadSeconds));
    if (prompts <= 0) return [];
    // The rest must fit the workers it may still be on.
    if (asked - prompts > ((capLeft[place] ?? 0) - 1) * (shares[place] ?? 0)) return [];
    const seconds = expert.loadSeconds + expert.cost(prompts);
    return [{ place, prompts, seconds, whole: prompts === asked, leftSeconds: expert.loadSeconds + expert.cost(asked) }];
  };

  for (let worker = 0; worker < workers; worker += 1) {
    let roomSeconds = untilSeconds;
    for (let slot = 0; slot < sessionsPerWorker; slot += 1) {
      const open: readonly Portion[] =
        carried === null ? experts.flatMap((_, place) => portionOf(place, roomSeconds)) : portionOf(carried, roomSeconds);
      const taken = chosen(open, { last: slot + 1 === sessionsPerWorker, preference, random });
      if (taken === null) break;
      setPrompts(draft, taken.place, worker, taken.prompts);
      left[taken.place] = (left[taken.place] ?? 0) - taken.prompts;
      capLeft[taken.place] = (capLeft[taken.place] ?? 0) - 1;
      roomSeconds -= taken.seconds;
      carried = taken.whole ? null : taken.place;
      if (!taken.whole) break;
    }
  }
  return left.every((prompts) => prompts === 0) ? draft : null;
}

/** A whole expert while more may follow it, else the best fit for the room: a part of the longest remaining expert. */
function chosen(
  open: readonly Portion[],
  { last, preference, random }: { readonly last: boolean; readonly preference: Preference; readonly random: Random },
): Portion | null {
  const longest = (portions: readonly Portion[]): Portion | null =>
    portions.reduce<Portion | null>((best, each) => (best === null || each.leftSeconds > best.leftSeconds ? each : best), null);
  const whole = open.filter((portion) => portion.whole);
  const parts = open.filter((portion) => !portion.whole);
  if (whole.length === 0) return longest(parts);
  if (last) return longest(parts) ?? longest(whole);
  if (preference === "any") return whole[random.int(whole.length)] ?? null;
  if (preference === "longest") return longest(whole);
  return whole.reduce((best, each) => (each.leftSeconds < best.leftSeconds ? each : best));
}
