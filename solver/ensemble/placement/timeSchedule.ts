import type { PlacedExpert, Schedule, Session } from "./placement";

/** A session with its interval on its worker: loading from `fromSeconds`, answering from `readySeconds`, ended at `untilSeconds`. */
export interface TimedSession extends Session {
  readonly fromSeconds: number;
  readonly readySeconds: number;
  readonly untilSeconds: number;
}

/** A schedule timed with the session cost of its experts. */
export interface TimedSchedule {
  readonly workers: readonly (readonly TimedSession[])[];
  /** Time until the last worker ends; 0 for an empty schedule. */
  readonly makespanSeconds: number;
  /** Share of all workers' time until the makespan in which they neither load nor answer, 0..1. */
  readonly idle: number;
  /** Number of sessions, as each loads once. */
  readonly loads: number;
}

/** Seconds in which a session of a worker answers its prompts, without loading. */
type AnsweringSeconds = (session: Session, worker: number) => number;

/** Seconds of a session: its load and its answers. A session without prompts only loads. */
export const sessionSeconds = ({ loadSeconds, cost }: PlacedExpert, prompts: number): number =>
  loadSeconds + (prompts > 0 ? cost(prompts) : 0);

/**
 * Times a schedule with the session cost of its experts, each worker's sessions one after another (MOSAIC, equations 1 and 4, with G_m of
 * each session's own prompts instead of a constant per prompt). Under a barrier no worker begins a session before all have ended their
 * previous ones (appendix A.6).
 *
 * @param answering seconds of single sessions in place of the experts' costs, as where sessions were measured; called in the order of
 * positions, then workers, and for sessions with prompts only.
 * @throws RangeError where a session names an unknown expert.
 */
export function timeSchedule(experts: readonly PlacedExpert[], schedule: Schedule, answering?: AnsweringSeconds): TimedSchedule {
  const lines: TimedSession[][] = schedule.workers.map(() => []);
  const clocks = schedule.workers.map(() => 0);
  const positions = Math.max(0, ...schedule.workers.map(({ length }) => length));
  let busySeconds = 0;
  let loads = 0;
  for (let position = 0; position < positions; position += 1) {
    const barrierSeconds = schedule.barrier ? Math.max(0, ...clocks) : 0;
    for (const [worker, sessions] of schedule.workers.entries()) {
      const session = sessions[position];
      if (session === undefined) continue;
      const expert = experts[session.expert];
      if (expert === undefined) throw new RangeError(`There is no expert ${session.expert}`);
      const fromSeconds = Math.max(clocks[worker] ?? 0, barrierSeconds);
      const timed = answering === undefined ? expert : { ...expert, cost: () => answering(session, worker) };
      const untilSeconds = fromSeconds + sessionSeconds(timed, session.prompts);
      lines[worker]?.push({ ...session, fromSeconds, readySeconds: fromSeconds + expert.loadSeconds, untilSeconds });
      clocks[worker] = untilSeconds;
      busySeconds += untilSeconds - fromSeconds;
      loads += 1;
    }
  }
  const makespanSeconds = Math.max(0, ...clocks);
  const idle = makespanSeconds > 0 ? Math.max(0, 1 - busySeconds / (clocks.length * makespanSeconds)) : 0;
  return { workers: lines, makespanSeconds, idle, loads };
}
