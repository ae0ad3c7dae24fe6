import { counted } from "../cascade/wording";
import type { MilpEngine } from "../milp/engine";
import { type DraftSchedule, draftOf, makespanOf, scheduleOf } from "./draftSchedule";
import type { PlacementProblem, Schedule } from "./placement";
import { combinatorialBound } from "./placementBound";
import { linearGround, TIME_TOLERANCE, timedGround } from "./placementGround";
import { replicaReasons } from "./replicaReasons";
import { retimePlacement } from "./retimePlacement";
import { ASKED_GAP, gapOf, type SolvedPlacement, solvePlacement } from "./solvePlacement";
import { type TimedSchedule, timeSchedule } from "./timeSchedule";

/** Ks in a row that bring less than the gap asked for, after which only the largest is tried. */
const FRUITLESS = 2;

/** Experts placed, with how good that is known to be. */
export interface ExpertsPlaced {
  /** K. */
  readonly maxModelsPerWorker: number;
  readonly schedule: Schedule;
  /** With the problem's own session costs. */
  readonly timed: TimedSchedule;
  /** The ILP, whose costs are linear; over all Ks where K was swept. */
  readonly solved: SolvedIlp;
  /** By K, each with the session costs; one where K was given. */
  readonly sweep: readonly { readonly maxModelsPerWorker: number; readonly makespanSeconds: number }[];
  /** By expert, why it is on as many workers. */
  readonly says: readonly string[];
}

export interface SolvedIlp {
  readonly makespanSeconds: number;
  readonly lowerBoundSeconds: number;
  /** (makespan - bound) / makespan. */
  readonly gap: number;
  /** No gap is left. */
  readonly proven: boolean;
}

export type Placed = { readonly ok: true; readonly value: ExpertsPlaced } | { readonly ok: false; readonly message: string };

/** What places experts: a problem whose K may be left open, as null. */
export type OpenPlacement = Omit<PlacementProblem, "maxModelsPerWorker"> & { readonly maxModelsPerWorker: number | null };

/**
 * Places experts on workers for the shortest makespan (MOSAIC, section 4.1; SYSTEMS section 5): the ILP with linear costs, then the repair that times
 * schedules with the session cost as it is. Where K is left open it rises from the least that has room for all experts, until the bound says that more brings
 * nothing; once two more together brought less than 0.1 %, only the largest is tried. All prompts are placed; no round-robin, list schedule or even
 * sharding that keeps K and caps is shorter. One sentence with the way out where K leaves no room.
 *
 * @param timeLimitSeconds of the engine in all; shared by the Ks that there are.
 */
export function placeExperts(
  problem: OpenPlacement,
  { engine, timeLimitSeconds }: { readonly engine: MilpEngine; readonly timeLimitSeconds: number },
): Placed {
  const { workers, maxModelsPerWorker: given } = problem;
  const asked = problem.experts.filter(({ prompts }) => prompts > 0).length;
  if (asked === 0) return { ok: true, value: nothingAsked(problem) };
  const least = Math.ceil(asked / workers);
  if (given !== null && given < least) return { ok: false, message: noRoom(asked, workers, given) };
  // A session of each expert is the most that a worker can have.
  const widest = given ?? asked;
  const sweepBoundSeconds = combinatorialBound(linearGround({ ...problem, maxModelsPerWorker: widest }));
  const ks = given === null ? widest - least + 1 : 1;
  // Half of the time is for the widest, whose bound is that of the whole sweep.
  const timeOf = (k: number): number => (ks === 1 ? 1 : k === widest ? 1 / 2 : 1 / 2 / (ks - 1)) * timeLimitSeconds;

  const tried: Tried[] = [];
  for (let maxModelsPerWorker = given ?? least; ; maxModelsPerWorker += 1) {
    const limits = { engine, timeLimitSeconds: timeOf(maxModelsPerWorker), share: 1 / Math.min(3, ks) };
    const next = tryK({ ...problem, maxModelsPerWorker }, bestOf(tried), limits);
    tried.push(next);
    if (maxModelsPerWorker === widest || isAtBound(next, sweepBoundSeconds)) break;
    // The widest bounds all Ks between.
    if (isFruitless(tried)) maxModelsPerWorker = widest - 1;
  }
  const best = bestOf(tried);
  if (best === null) throw new RangeError("No K was tried");
  const chosen = { ...problem, maxModelsPerWorker: best.maxModelsPerWorker };
  const shortest = tried.reduce((short, { solved }) => (solved.makespanSeconds < short.makespanSeconds ? solved : short), best.solved);
  const last = tried.at(-1);
  // What K given or the widest is bounded by bounds any smaller one too.
  const boundSeconds = last?.maxModelsPerWorker === widest ? last.solved.lowerBoundSeconds : sweepBoundSeconds;
  const bound = { ...shortest, lowerBoundSeconds: Math.min(boundSeconds, shortest.makespanSeconds) };
  const gap = gapOf(bound);
  return {
    ok: true,
    value: {
      maxModelsPerWorker: best.maxModelsPerWorker,
      schedule: scheduleOf(best.draft),
      timed: timeSchedule(problem.experts, scheduleOf(best.draft)),
      solved: { makespanSeconds: bound.makespanSeconds, lowerBoundSeconds: bound.lowerBoundSeconds, gap, proven: gap <= 1e-6 },
      sweep: tried.map(({ maxModelsPerWorker, draft }) => ({ maxModelsPerWorker, makespanSeconds: makespanOf(draft) })),
      says: replicaReasons(chosen, draftOf(timedGround(chosen), scheduleOf(best.draft))),
    },
  };
}

/** A K, the ILP under it, and the best schedule under it with the session costs. */
interface Tried {
  readonly maxModelsPerWorker: number;
  readonly solved: SolvedPlacement;
  readonly draft: DraftSchedule;
}

function tryK(problem: PlacementProblem, before: Tried | null, limits: Parameters<typeof solvePlacement>[2]): Tried {
  // What holds for a smaller K holds for this one.
  const earlier = before === null ? [] : [before.solved.schedule, scheduleOf(before.draft)];
  const solved = solvePlacement(problem, earlier, limits);
  const draft = retimePlacement(problem, [solved.schedule, ...earlier], limits.share);
  return { maxModelsPerWorker: problem.maxModelsPerWorker, solved, draft };
}

/** The shortest with the session costs; among equals the smallest K. */
function bestOf(tried: readonly Tried[]): Tried | null {
  return tried.reduce<Tried | null>(
    (best, each) => (best === null || makespanOf(each.draft) < makespanOf(best.draft) * (1 - TIME_TOLERANCE) ? each : best),
    null,
  );
}

const isAtBound = ({ solved }: Tried, boundSeconds: number): boolean => solved.makespanSeconds <= boundSeconds * (1 + ASKED_GAP);

function isFruitless(tried: readonly Tried[]): boolean {
  const last = tried.at(-1);
  const earlier = tried.at(-1 - FRUITLESS);
  return last !== undefined && earlier !== undefined && makespanOf(last.draft) > makespanOf(earlier.draft) * (1 - ASKED_GAP);
}

const noRoom = (asked: number, workers: number, given: number): string =>
  `${counted(asked, "expert")} are asked something, but ${counted(workers, "worker")} with ${counted(given, "model")} each have room for ${workers * given}: ` +
  `allow ${Math.ceil(asked / workers)} models per worker, or give it ${Math.ceil(asked / given)} workers.`;

function nothingAsked({ experts, workers, maxModelsPerWorker }: OpenPlacement): ExpertsPlaced {
  const schedule: Schedule = { workers: Array.from({ length: workers }, () => []), barrier: false };
  return {
    maxModelsPerWorker: maxModelsPerWorker ?? 1,
    schedule,
    timed: timeSchedule(experts, schedule),
    solved: { makespanSeconds: 0, lowerBoundSeconds: 0, gap: 0, proven: true },
    sweep: [],
    says: experts.map(() => "On no worker: it is asked nothing."),
  };
}
