import { counted } from "@/solver/wording/wording";
import { copyDraft, type DraftSchedule, makespanOf, promptsOn, respread, sessionsOn, settle, workersOf } from "./draftSchedule";
import type { PlacementProblem } from "./placement";

/** Number of workers on which one more or fewer is tried, the most promising first: each requires settling all splits. */
const MOST_TRIED = 8;

/**
 * Why each expert has its number of workers, a sentence or two by expert of the problem: the number that its time allows, and the makespan
 * with a worker more or fewer, with the other experts where they are and all splits recomputed.
 *
 * @param draft the final schedule, on the context of the session costs.
 */
export function replicaReasons(problem: PlacementProblem, draft: DraftSchedule): readonly string[] {
  const places = new Map(draft.context.experts.map(({ expert }, place) => [expert, place]));
  return problem.experts.map((_, expert) => {
    const place = places.get(expert);
    return place === undefined ? "On no worker: it is asked nothing." : `${capReason(problem, draft, place)} ${changeReason(draft, place)}`;
  });
}

function capReason({ workers, replicas }: PlacementProblem, draft: DraftSchedule, place: number): string {
  const expert = draft.context.experts[place];
  const on = counted(workersOf(draft, place).length, "worker");
  if (expert === undefined) return "";
  if (replicas === "single") return `On ${on}, as each expert is to be on one only.`;
  if (expert.loadSeconds === 0) return `On ${on}: it loads in no time, so it may be on all ${workers}.`;
  const seconds = expert.cost(expert.prompts);
  const loads = Math.floor(seconds / expert.loadSeconds);
  const amortises = `its ${secondsText(seconds)} of answering are ${loads === 0 ? "less than one load" : `${loads.toLocaleString("en")} load${loads === 1 ? "" : "s"}`} of ${secondsText(expert.loadSeconds)}`;
  return `On ${on} of at most ${expert.cap}: ${amortises}.`;
}

/** The makespan with one worker more and one fewer. */
function changeReason(draft: DraftSchedule, place: number): string {
  const nowSeconds = makespanOf(draft);
  const more = withOneMore(draft, place);
  const fewer = withOneFewer(draft, place);
  const changed = (seconds: number): string => {
    const difference = seconds - nowSeconds;
    if (Math.abs(difference) <= 1e-3 * nowSeconds) return "would change nothing";
    return `would make the whole ${secondsText(Math.abs(difference))} ${difference > 0 ? "longer" : "shorter"}`;
  };
  const fewerText = fewer === null ? null : `one fewer ${changed(fewer)}`;
  if (more !== null) return `One more ${changed(more)}${fewerText === null ? "" : `, ${fewerText}`}.`;
  const atCap = workersOf(draft, place).length >= mostWorkers(draft, place);
  const noMore = atCap
    ? "It may be on no more"
    : `No worker has room for one more of it at ${counted(draft.context.sessionsPerWorker, "model")} each`;
  return `${noMore}${fewerText === null ? "" : `; ${fewerText}`}.`;
}

/** A session has at least one prompt. */
const mostWorkers = ({ context }: DraftSchedule, place: number): number =>
  Math.min(context.experts[place]?.cap ?? 0, context.experts[place]?.prompts ?? 0);

/**
 * The smallest makespan with a session of the expert on one worker more, among those with room that end first; null: its cap or K allows
 * none.
 */
function withOneMore(draft: DraftSchedule, place: number): number | null {
  const { workers, sessionsPerWorker } = draft.context;
  const on = workersOf(draft, place);
  if (on.length >= mostWorkers(draft, place)) return null;
  const busy = (worker: number): number => draft.busySeconds[worker] ?? 0;
  const room = Array.from({ length: workers }, (_, worker) => worker)
    .filter((worker) => !on.includes(worker) && sessionsOn(draft, worker) < sessionsPerWorker)
    .sort((a, b) => busy(a) - busy(b))
    .slice(0, MOST_TRIED);
  return leastOf(room.map((worker) => respreadSeconds(draft, place, [...on, worker])));
}

/**
 * The smallest makespan with a session of the expert on one worker fewer, among those that answer the fewest of its prompts; null: it has
 * only one.
 */
function withOneFewer(draft: DraftSchedule, place: number): number | null {
  const on = workersOf(draft, place);
  if (on.length < 2) return null;
  const smallest = on.toSorted((a, b) => promptsOn(draft, place, a) - promptsOn(draft, place, b)).slice(0, MOST_TRIED);
  return leastOf(
    smallest.map((worker) =>
      respreadSeconds(
        draft,
        place,
        on.filter((other) => other !== worker),
      ),
    ),
  );
}

function respreadSeconds(draft: DraftSchedule, place: number, over: readonly number[]): number {
  const changed = copyDraft(draft);
  respread(changed, place, over);
  settle(changed);
  return makespanOf(changed);
}

const leastOf = (seconds: readonly number[]): number | null => (seconds.length === 0 ? null : Math.min(...seconds));

/** Seconds with the significant digits: whole from ten on. */
const secondsText = (seconds: number): string =>
  `${(seconds >= 10 ? Math.round(seconds) : Number(seconds.toPrecision(2))).toLocaleString("en")} s`;
