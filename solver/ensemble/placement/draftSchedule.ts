import type { Schedule, Session } from "./placement";
import { type AskedExpert, type PlacementContext, TIME_TOLERANCE } from "./placementContext";

/** Number of bisection steps of an interval of seconds, down to double precision. */
const HALVINGS = 60;
/** Maximum number of passes over all experts until splits settle. */
const MOST_TURNS = 40;
/** Relative gain of a pass below which splits have settled. */
const SETTLED = 1e-7;

/** A schedule under construction: the prompts of each expert on each worker, and the time until which each worker is busy. */
export interface DraftSchedule {
  readonly context: PlacementContext;
  /** Prompts by expert of the context and worker, expert by expert; 0: no session. */
  readonly counts: Float64Array;
  readonly busySeconds: Float64Array;
}

export function emptyDraft(context: PlacementContext): DraftSchedule {
  const { experts, workers } = context;
  return { context, counts: new Float64Array(experts.length * workers), busySeconds: new Float64Array(workers) };
}

export const copyDraft = ({ context, counts, busySeconds }: DraftSchedule): DraftSchedule => ({
  context,
  counts: counts.slice(),
  busySeconds: busySeconds.slice(),
});

/** Copies another draft of the same context into one draft. */
export function overwriteDraft(draft: DraftSchedule, by: DraftSchedule): void {
  draft.counts.set(by.counts);
  draft.busySeconds.set(by.busySeconds);
}

/** A schedule without a barrier as a draft of the context, which may have other costs. */
export function draftOf(context: PlacementContext, schedule: Schedule): DraftSchedule {
  const draft = emptyDraft(context);
  const places = new Map(context.experts.map(({ expert }, place) => [expert, place]));
  for (const [worker, sessions] of schedule.workers.entries())
    for (const { expert, prompts } of sessions) {
      const place = places.get(expert);
      if (place !== undefined) setPrompts(draft, place, worker, prompts);
    }
  return draft;
}

/** The draft as a schedule; each worker runs its longest session first. */
export function scheduleOf({ context, counts }: DraftSchedule): Schedule {
  const workers = Array.from({ length: context.workers }, (_, worker) => {
    const sessions = context.experts.flatMap((each, place): { readonly session: Session; readonly seconds: number }[] => {
      const prompts = counts[place * context.workers + worker] ?? 0;
      return prompts > 0 ? [{ session: { expert: each.expert, prompts }, seconds: each.loadSeconds + each.cost(prompts) }] : [];
    });
    return sessions.sort((a, b) => b.seconds - a.seconds).map(({ session }) => session);
  });
  return { workers, barrier: false };
}

export function makespanOf({ busySeconds }: DraftSchedule): number {
  let most = 0;
  for (const seconds of busySeconds) if (seconds > most) most = seconds;
  return most;
}

export const promptsOn = ({ context, counts }: DraftSchedule, place: number, worker: number): number =>
  counts[place * context.workers + worker] ?? 0;

/** Workers on which an expert, by its place in the context, has a session. */
export function workersOf(draft: DraftSchedule, place: number): number[] {
  const workers: number[] = [];
  for (let worker = 0; worker < draft.context.workers; worker += 1) if (promptsOn(draft, place, worker) > 0) workers.push(worker);
  return workers;
}

/** Number of sessions of a worker. */
export function sessionsOn(draft: DraftSchedule, worker: number): number {
  let sessions = 0;
  for (let place = 0; place < draft.context.experts.length; place += 1) if (promptsOn(draft, place, worker) > 0) sessions += 1;
  return sessions;
}

const secondsOf = (expert: AskedExpert, prompts: number): number => (prompts > 0 ? expert.loadSeconds + expert.cost(prompts) : 0);

/** Gives an expert so many prompts on a worker, independent of its prompts elsewhere. */
export function setPrompts(draft: DraftSchedule, place: number, worker: number, prompts: number): void {
  const expert = draft.context.experts[place];
  if (expert === undefined) return;
  const before = promptsOn(draft, place, worker);
  if (before === prompts) return;
  draft.counts[place * draft.context.workers + worker] = prompts;
  const seconds = (draft.busySeconds[worker] ?? 0) + secondsOf(expert, prompts) - secondsOf(expert, before);
  draft.busySeconds[worker] = Math.max(0, seconds);
}

/**
 * Splits all prompts of an expert over some workers such that the last of them ends as early as possible, given all else: exact for any
 * non-decreasing cost, by bisection on the end time. Workers that would gain nothing are left without a session.
 */
export function respread(draft: DraftSchedule, place: number, over: readonly number[]): void {
  const expert = draft.context.experts[place];
  if (expert === undefined) return;
  for (const worker of workersOf(draft, place)) setPrompts(draft, place, worker, 0);
  const { prompts } = expert;
  const wholeSeconds = secondsOf(expert, prompts);
  const order = [...over].sort((a, b) => (draft.busySeconds[a] ?? 0) - (draft.busySeconds[b] ?? 0));
  const most = (worker: number, untilSeconds: number): number =>
    expert.most(untilSeconds - (draft.busySeconds[worker] ?? 0) - expert.loadSeconds);
  const all = (untilSeconds: number): number => order.reduce((sum, worker) => sum + most(worker, untilSeconds), 0);
  const firstSeconds = draft.busySeconds[order[0] ?? 0] ?? 0;
  let fails = firstSeconds;
  // All on the worker that is free first.
  let holds = firstSeconds + wholeSeconds;
  for (let halving = 0; halving < HALVINGS && holds - fails > TIME_TOLERANCE * holds; halving += 1) {
    const middle = (fails + holds) / 2;
    if (all(middle) >= prompts) holds = middle;
    else fails = middle;
  }
  const least = order.map((worker) => Math.min(prompts, most(worker, fails)));
  let left = prompts - least.reduce((sum, count) => sum + count, 0);
  for (const [position, worker] of order.entries()) {
    const begun = least[position] ?? 0;
    // `least` can hold all of them where a bound is met exactly.
    const more = left < 0 ? Math.max(left, -begun) : Math.min(left, Math.max(0, most(worker, holds) - begun));
    left -= more;
    setPrompts(draft, place, worker, begun + more);
  }
  const [first] = order;
  // Rounding of the last halving may leave some over.
  if (left > 0 && first !== undefined) setPrompts(draft, place, first, promptsOn(draft, place, first) + left);
}

/**
 * Makes the split of every expert over its workers exact given the others, in passes until there is no gain (the exact repair, SYSTEMS
 * section 5). Sessions without prompts are removed. The makespan never rises.
 */
export function settle(draft: DraftSchedule, turns = MOST_TURNS): void {
  let before = makespanOf(draft);
  for (let turn = 0; turn < turns; turn += 1) {
    for (let place = 0; place < draft.context.experts.length; place += 1) {
      const on = workersOf(draft, place);
      if (on.length > 1) respread(draft, place, on);
    }
    const after = makespanOf(draft);
    if (before - after <= SETTLED * before) return;
    before = after;
  }
}

/**
 * Removes sessions, each expert's smallest first, if its others can answer their prompts without the makespan exceeding so many seconds:
 * each saves a load. As a removed session makes room for others, it repeats until none can be removed.
 */
export function dropSessions(draft: DraftSchedule, atMostSeconds: number): void {
  let before: number;
  do {
    before = loadsOf(draft);
    dropOnce(draft, atMostSeconds);
  } while (loadsOf(draft) < before);
}

function dropOnce(draft: DraftSchedule, atMostSeconds: number): void {
  for (let place = 0; place < draft.context.experts.length; place += 1) {
    const on = workersOf(draft, place).sort((a, b) => promptsOn(draft, place, a) - promptsOn(draft, place, b));
    for (const worker of on) {
      const kept = copyDraft(draft);
      const others = workersOf(draft, place).filter((other) => other !== worker);
      if (others.length === 0) break;
      respread(draft, place, others);
      if (makespanOf(draft) > atMostSeconds) overwriteDraft(draft, kept);
    }
  }
}

/** Number of sessions, each of which loads once. */
export const loadsOf = ({ counts }: DraftSchedule): number => counts.reduce((loads, prompts) => loads + (prompts > 0 ? 1 : 0), 0);
