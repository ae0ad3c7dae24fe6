import { dataConcurrent, listScheduling, roundRobin } from "@/solver/ensemble/placement/baselineSchedules";
import { type ExpertsPlaced, placeExperts } from "@/solver/ensemble/placement/placeExperts";
import type { PlacedExpert, Schedule } from "@/solver/ensemble/placement/placement";
import { type TimedSchedule, timeSchedule } from "@/solver/ensemble/placement/timeSchedule";
import type { MilpEngine } from "@/solver/milp/engine";
import { type SourceInstance, sourceK, sourceWorkers } from "./sourceInstances";

const TIME_LIMIT_SECONDS = 10;

/** The placements of one benchmark's experts, every schedule timed with the same cost. */
export interface RacedSchedules {
  readonly roundRobin: TimedSchedule;
  readonly dataConcurrent: TimedSchedule;
  readonly listScheduling: TimedSchedule;
  readonly placed: TimedSchedule;
  readonly maxModelsPerWorker: number;
  /** Number of workers of each expert, in their order. */
  readonly replicas: readonly number[];
  /** Makespan of the ILP with a constant time per prompt. */
  readonly solvedSeconds: number;
  readonly lowerBoundSeconds: number;
}

/** An instance's schedules, untimed but for the placed one. */
export interface PlacedSchedules {
  readonly roundRobin: Schedule;
  readonly dataConcurrent: Schedule;
  readonly listScheduling: Schedule;
  readonly schedule: Schedule;
  readonly timed: TimedSchedule;
  readonly maxModelsPerWorker: number;
  /** Number of workers of each expert, in their order. */
  readonly replicas: readonly number[];
  readonly solved: ExpertsPlaced["solved"];
  readonly optimality: ExpertsPlaced["optimality"];
}

/** Places experts on the source's workers, and makes the baselines' schedules; `maxModelsPerWorker` null sweeps it. */
export function placeSchedules(
  experts: readonly PlacedExpert[],
  engine: MilpEngine,
  maxModelsPerWorker: number | null = sourceK,
): PlacedSchedules {
  const problem = { workers: sourceWorkers, experts, replicas: "amortised" as const };
  const placed = placeExperts({ ...problem, maxModelsPerWorker }, { engine, timeLimitSeconds: TIME_LIMIT_SECONDS });
  if (!placed.ok) throw new Error(placed.message);
  const { schedule, timed, solved, optimality, maxModelsPerWorker: k } = placed.value;
  const baseline = { ...problem, maxModelsPerWorker: sourceK };
  const present = (own: Schedule | null): Schedule => {
    if (own === null) throw new Error("a baseline does not exist within the source's K");
    return own;
  };
  return {
    roundRobin: present(roundRobin(baseline)),
    dataConcurrent: dataConcurrent(baseline),
    listScheduling: present(listScheduling(baseline)),
    ...{ schedule, timed, solved, optimality, maxModelsPerWorker: k },
    replicas: experts.map((_, at) => timed.workers.flat().filter(({ expert }) => expert === at).length),
  };
}

/** An instance's schedules, every one timed with the cost that it was placed by; `maxModelsPerWorker` null sweeps it. */
export function raceSchedules(
  experts: readonly PlacedExpert[],
  engine: MilpEngine,
  maxModelsPerWorker: number | null = sourceK,
): RacedSchedules {
  const { timed, solved, replicas, ...placed } = placeSchedules(experts, engine, maxModelsPerWorker);
  return {
    roundRobin: timeSchedule(experts, placed.roundRobin),
    dataConcurrent: timeSchedule(experts, placed.dataConcurrent),
    listScheduling: timeSchedule(experts, placed.listScheduling),
    placed: timed,
    maxModelsPerWorker: placed.maxModelsPerWorker,
    replicas,
    solvedSeconds: solved.makespanSeconds,
    lowerBoundSeconds: solved.lowerBoundSeconds,
  };
}

const HALVINGS = 16;
const MOST_SCALE = 8;

/**
 * The scale at which round-robin takes the source's measured time of an instance, by bisection.
 *
 * @param expertsAt experts at a scale; time increases with it.
 */
export function scaleOfRoundRobin(instance: SourceInstance, expertsAt: (scale: number) => readonly PlacedExpert[]): number {
  let [low, high] = [0, MOST_SCALE];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (low + high) / 2;
    const experts = expertsAt(middle);
    const schedule = roundRobin({ workers: sourceWorkers, experts, maxModelsPerWorker: sourceK, replicas: "amortised" });
    const seconds = schedule === null ? 0 : timeSchedule(experts, schedule).makespanSeconds;
    if (seconds < instance.expertStage.roundRobin) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
