import type { PlacedExpert, Schedule, Session } from "./placement";

/** A session with its place on its worker's line: loading from `fromSeconds`, answering from `readySeconds`, over at `untilSeconds`. */
export interface TimedSession extends Session {
  readonly fromSeconds: number;
  readonly readySeconds: number;
  readonly untilSeconds: number;
}

/** A schedule timed with the session cost of its experts. */
export interface TimedSchedule {
  readonly workers: readonly (readonly TimedSession[])[];
  /** Until the last worker is done; 0 where there is nothing to do. */
  readonly makespanSeconds: number;
  /** Of all workers' time until the makespan, the share in which they neither load nor answer, 0..1. */
  readonly idle: number;
  /** Sessions, as each loads once. */
  readonly loads: number;
}

/** Seconds of a session: its load and its answers. One without prompts only loads. */
export const sessionSeconds = ({ loadSeconds, cost }: PlacedExpert, prompts: number): number =>
  loadSeconds + (prompts > 0 ? cost(prompts) : 0);

/**
 * Times a schedule with the session cost of its experts, each worker's sessions one after another (MOSAIC, equations 1 and 4, with G_m of each session's own
 * prompts in place of a constant per prompt). Under a barrier no worker begins a session before all have ended theirs before it (appendix A.6).
 *
 * @throws RangeError where a session names an expert there is not.
 */
export function timeSchedule(experts: readonly PlacedExpert[], schedule: Schedule): TimedSchedule {
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
      const untilSeconds = fromSeconds + sessionSeconds(expert, session.prompts);
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
