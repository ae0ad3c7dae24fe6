import type { MilpEngine } from "@/solver/milp/engine";
import { counted } from "@/solver/wording/wording";
import { listScheduling, roundRobin } from "./baselineSchedules";
import { copyDraft, type DraftSchedule, draftOf, dropSessions, loadsOf, makespanOf, scheduleOf } from "./draftSchedule";
import { gapOf, type Optimality, optimalityOf } from "./optimality";
import type { PlacementProblem, Schedule } from "./placement";
import { combinatorialBound } from "./placementBound";
import { linearContext, TIME_TOLERANCE } from "./placementContext";
import { replicaReasons } from "./replicaReasons";
import { retimePlacement } from "./retimePlacement";
import { ASKED_GAP, PROVEN_CELLS, type SolvedPlacement, solvedOf, solvePlacement } from "./solvePlacement";
import { type TimedSchedule, timeSchedule } from "./timeSchedule";

/** Number of consecutive Ks with a gain below the requested gap after which only the largest is tried. */
const FRUITLESS = 2;

/** Placed experts, with the known optimality. */
export interface ExpertsPlaced {
  /** K. */
  readonly maxModelsPerWorker: number;
  readonly schedule: Schedule;
  /** With the problem's own session costs. */
  readonly timed: TimedSchedule;
  /** The ILP, whose costs are linear, with its best known schedule; over all Ks where K was swept. */
  readonly solved: SolvedIlp;
  /** Of `timed`: how far it is from the shortest schedule with the session costs at most. */
  readonly optimality: Optimality;
  /** By K, each with the session costs; one where K was given. */
  readonly sweep: readonly { readonly maxModelsPerWorker: number; readonly makespanSeconds: number }[];
  /** By expert, the reason for its number of workers. */
  readonly says: readonly string[];
}

interface SolvedIlp {
  readonly makespanSeconds: number;
  readonly lowerBoundSeconds: number;
  /** (makespan - bound) / makespan. */
  readonly gap: number;
  /** No gap is left. */
  readonly proven: boolean;
}

export type Placed = { readonly ok: true; readonly value: ExpertsPlaced } | { readonly ok: false; readonly message: string };

/** The input of a placement: a problem whose K may be left open, as null. */
export type OpenPlacement = Omit<PlacementProblem, "maxModelsPerWorker"> & { readonly maxModelsPerWorker: number | null };

/**
 * Places experts on workers for the shortest makespan (MOSAIC, section 4.1; SYSTEMS section 5): the ILP with linear costs, then the repair
 * that times schedules with the true session cost. Where K is left open it rises from the smallest that has room for all experts, until the
 * bound shows that more brings nothing; once two consecutive Ks together brought less than 0.1 %, only the largest is tried. All prompts
 * are placed; no round-robin, list schedule or even sharding that keeps K and caps is shorter. Returns one sentence with a remedy where K
 * leaves no room.
 *
 * @param options.timeLimitSeconds of the engine in total; shared by all Ks.
 * @param options.fewestLoadsWithin share of the makespan that may be lost for fewer loads and a smaller K, where costs are no more accurate
 * than that: among even
 *   sharding and the swept Ks, others may then be shorter by as much. 0: the shortest that is found.
 */
export function placeExperts(
  problem: OpenPlacement,
  {
    engine,
    timeLimitSeconds,
    fewestLoadsWithin = 0,
  }: { readonly engine: MilpEngine; readonly timeLimitSeconds: number; readonly fewestLoadsWithin?: number },
): Placed {
  const { workers, maxModelsPerWorker: given } = problem;
  const asked = problem.experts.filter(({ prompts }) => prompts > 0).length;
  if (asked === 0) return { ok: true, value: nothingAsked(problem) };
  const least = Math.ceil(asked / workers);
  if (given !== null && given < least) return { ok: false, message: noRoom(asked, workers, given) };
  // A worker can have at most one session of each expert.
  const widest = given ?? asked;
  const sweepBoundSeconds = combinatorialBound(linearContext({ ...problem, maxModelsPerWorker: widest }));
  const ks = given === null ? widest - least + 1 : 1;
  // Half of the time is for the largest K, whose bound is that of the whole sweep.
  const timeOf = (k: number): number => (ks === 1 ? 1 : k === widest ? 1 / 2 : 1 / 2 / (ks - 1)) * timeLimitSeconds;

  // Each of a sweep's Ks is searched less, except where that costs little.
  const share = asked * workers <= PROVEN_CELLS ? 1 : 1 / Math.min(3, ks);
  const tried: Tried[] = [];
  for (let maxModelsPerWorker = given ?? least; ; maxModelsPerWorker += 1) {
    const limits = { engine, timeLimitSeconds: timeOf(maxModelsPerWorker), share };
    const next = tryK({ ...problem, maxModelsPerWorker }, bestOf(tried), limits);
    tried.push(next);
    if (maxModelsPerWorker === widest || isAtBound(next, sweepBoundSeconds)) break;
    // The bound of the largest K applies to all Ks between.
    if (isFruitless(tried)) maxModelsPerWorker = widest - 1;
  }
  const shortestSeconds = Math.min(...tried.map(({ draft }) => makespanOf(draft)));
  const atMostSeconds = shortestSeconds * (1 + Math.max(fewestLoadsWithin, TIME_TOLERANCE));
  const best = tried.find(({ draft }) => makespanOf(draft) <= atMostSeconds);
  if (best === undefined) throw new RangeError("No K was tried");
  const chosen = { ...problem, maxModelsPerWorker: best.maxModelsPerWorker };
  const draft = fewestLoads(chosen, best.draft, atMostSeconds);
  const schedule = scheduleOf(draft);
  const timed = timeSchedule(problem.experts, schedule);
  const shortest = tried.reduce((short, { solved }) => (solved.makespanSeconds < short.makespanSeconds ? solved : short), best.solved);
  const last = tried.at(-1);
  // The bound of the given or largest K also applies to any smaller one.
  const known: Pick<Optimality, "lowerBoundSeconds" | "by"> =
    last?.maxModelsPerWorker === widest ? last.solved : { lowerBoundSeconds: sweepBoundSeconds, by: "search" };
  const bound = { ...shortest, lowerBoundSeconds: Math.min(known.lowerBoundSeconds, shortest.makespanSeconds) };
  const gap = gapOf(bound);
  return {
    ok: true,
    value: {
      maxModelsPerWorker: best.maxModelsPerWorker,
      schedule,
      timed,
      solved: { makespanSeconds: bound.makespanSeconds, lowerBoundSeconds: bound.lowerBoundSeconds, gap, proven: gap <= 1e-6 },
      optimality: optimalityOf({ ...problem, maxModelsPerWorker: widest }, timed.makespanSeconds, known),
      sweep: tried.map((each) => ({
        maxModelsPerWorker: each.maxModelsPerWorker,
        makespanSeconds: each === best ? timed.makespanSeconds : makespanOf(each.draft),
      })),
      says: replicaReasons(chosen, draft),
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
  // A schedule for a smaller K is valid for this one.
  const earlier = before === null ? [] : [before.solved.schedule, scheduleOf(before.draft)];
  const solved = solvePlacement(problem, earlier, limits);
  const draft = retimePlacement(problem, [solved.schedule, ...earlier], limits.share);
  // The repair searches on: with nearly linear costs its result is also shorter in the ILP.
  const repaired = solvedOf(draftOf(linearContext(problem), scheduleOf(draft)), solved);
  const better = repaired.makespanSeconds < solved.makespanSeconds ? repaired : solved;
  return { maxModelsPerWorker: problem.maxModelsPerWorker, solved: better, draft };
}

/** The shortest with the session costs; among equals the smallest K. */
function bestOf(tried: readonly Tried[]): Tried | null {
  return tried.reduce<Tried | null>(
    (best, each) => (best === null || makespanOf(each.draft) < makespanOf(best.draft) * (1 - TIME_TOLERANCE) ? each : best),
    null,
  );
}

/** With the session costs, the ILP's makespan may be far below the time of its schedule. */
const isAtBound = ({ draft }: Tried, boundSeconds: number): boolean => makespanOf(draft) <= boundSeconds * (1 + ASKED_GAP);

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
    optimality: { lowerBoundSeconds: 0, gap: 0, proven: true, by: "search" },
    sweep: [],
    says: experts.map(() => "On no worker: it is asked nothing."),
  };
}

/**
 * A schedule of few loads that is no longer than so many seconds: the draft without the sessions whose prompts others can take, or
 * round-robin or the list schedule, which load each expert once. Among equal loads the shortest, so that neither of these is better in
 * both.
 *
 * @param draft itself no longer than that.
 */
function fewestLoads(problem: PlacementProblem, draft: DraftSchedule, atMostSeconds: number): DraftSchedule {
  const spared = copyDraft(draft);
  dropSessions(spared, atMostSeconds);
  const whole = [listScheduling(problem), roundRobin(problem)]
    .flatMap((each) => (each === null ? [] : [draftOf(draft.context, each)]))
    .filter((each) => makespanOf(each) <= atMostSeconds);
  return whole.reduce((best, each) => (isBetter(each, best) ? each : best), spared);
}

function isBetter(one: DraftSchedule, other: DraftSchedule): boolean {
  const fewer = loadsOf(other) - loadsOf(one);
  return fewer > 0 || (fewer === 0 && makespanOf(one) < makespanOf(other));
}
