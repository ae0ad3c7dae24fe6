import type { PlacementProblem, Schedule, Session } from "./placement";
import { sessionSeconds, type TimedSchedule, timeSchedule } from "./timeSchedule";

/** Experts with prompts, by index, in the order in which they were given: the order in which prompts first name them. */
const askedExperts = ({ experts }: PlacementProblem): readonly { readonly expert: number; readonly prompts: number }[] =>
  experts.flatMap(({ prompts }, expert) => (prompts > 0 ? [{ expert, prompts }] : []));

/** The reference placements, by name, timed with the problem's own session costs; null: it does not exist within K. */
export function baselineSchedules(problem: PlacementProblem) {
  const timed = (schedule: Schedule | null): TimedSchedule | null => schedule && timeSchedule(problem.experts, schedule);
  return [
    { kind: "round-robin", timed: timed(roundRobin(problem)) },
    { kind: "data-concurrent", timed: timed(dataConcurrent(problem)) },
    { kind: "list-scheduling", timed: timed(listScheduling(problem)) },
  ] as const;
}

const emptyLines = (workers: number): Session[][] => Array.from({ length: workers }, () => []);

/**
 * The m-th expert on worker m mod N, whole (MOSAIC, section 3, observation 2): loads overlap across workers, and costs are ignored. null:
 * there are more experts than the workers have room for.
 */
export function roundRobin(problem: PlacementProblem): Schedule | null {
  const asked = askedExperts(problem);
  if (asked.length > problem.workers * problem.maxModelsPerWorker) return null;
  const workers = emptyLines(problem.workers);
  for (const [position, session] of asked.entries()) workers[position % problem.workers]?.push(session);
  return { workers, barrier: false };
}

/**
 * Every expert on every worker with an equal share of its prompts, one expert after another with a barrier between them (MOSAIC,
 * observation 3 and appendix A.6). It ignores K and caps of replicas, so it always exists.
 */
export function dataConcurrent(problem: PlacementProblem): Schedule {
  const { workers } = problem;
  const asked = askedExperts(problem);
  const shard = (prompts: number, worker: number): number => Math.floor(prompts / workers) + (worker < prompts % workers ? 1 : 0);
  return {
    workers: emptyLines(workers).map((_, worker) => asked.map(({ expert, prompts }) => ({ expert, prompts: shard(prompts, worker) }))),
    barrier: true,
  };
}

/**
 * Greedy list scheduling: whole experts, the longest first, each to the worker that would end it first of those that have room (MOSAIC,
 * section 4.1.3, names it). null: there are more experts than the workers have room for.
 */
export function listScheduling(problem: PlacementProblem): Schedule | null {
  const { experts, maxModelsPerWorker } = problem;
  const asked = askedExperts(problem);
  if (asked.length > problem.workers * maxModelsPerWorker) return null;
  const lines = emptyLines(problem.workers).map((sessions) => ({ sessions, endsSeconds: 0 }));
  const timed = asked.flatMap((session) => {
    const expert = experts[session.expert];
    return expert === undefined ? [] : [{ session, seconds: sessionSeconds(expert, session.prompts) }];
  });
  for (const { session, seconds } of timed.sort((a, b) => b.seconds - a.seconds)) {
    const open = lines.filter(({ sessions }) => sessions.length < maxModelsPerWorker);
    const [first, ...others] = open;
    if (first === undefined) return null;
    const soonest = others.reduce((best, line) => (line.endsSeconds < best.endsSeconds ? line : best), first);
    soonest.sessions.push(session);
    soonest.endsSeconds += seconds;
  }
  return { workers: lines.map(({ sessions }) => sessions), barrier: false };
}
