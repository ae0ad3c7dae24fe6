import { modelPerturbation } from "@/solver/calibration/modelPerturbation";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { simulateClosedLoop } from "@/solver/engine/simulateClosedLoop";
import type { ServedRequests } from "@/solver/engine/throughputCurve";
import type { Schedule } from "@/solver/ensemble/placement/placement";
import { type TimedSchedule, timeSchedule } from "@/solver/ensemble/placement/timeSchedule";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import type { MilpEngine } from "@/solver/milp/engine";
import { mixSeed } from "@/solver/numeric/random";
import { engineOf, lengthsOf, simulatedExperts, slowness, type Timing } from "./drawnSessions";
import { type PlacedSchedules, placeSchedules } from "./placedInstances";
import { type SourceInstance, sourceExperts } from "./sourceInstances";

/** Questions of the source's calibration subset (section 5.1), of whose lengths plans are made; it never sees the test's. */
export const CALIBRATION_QUESTIONS = 350;

/** The seed of what planner and truth both know: engines' level on MMLU-Pro, and answers' scale on an instance. */
export const KNOWN_SEED = 1;

/** A schedule's time as planned, and on the hidden engines. */
interface PlannedAndMeasured {
  readonly plannedSeconds: number;
  readonly measured: TimedSchedule;
}

/** The schedules of an instance under one seed, planned by one profile and timed on engines that the planner does not see. */
export interface MeasuredRace {
  readonly roundRobin: PlannedAndMeasured;
  readonly dataConcurrent: PlannedAndMeasured;
  readonly listScheduling: PlannedAndMeasured;
  readonly placed: PlannedAndMeasured;
  /** The plan's own lower bound and gap. */
  readonly optimality: PlacedSchedules["optimality"];
  readonly replicas: readonly number[];
}

/** An engine as it really is: the planner's model with hidden deviations, by seed and id. */
export const hiddenEngine = (planned: ReplicaModel, seed: number, engineId: string): ReplicaModel =>
  modelPerturbation(planned, vllmProfile.errors, { seed, engineId });

/**
 * Plans on an instance with lengths of a calibration subset and engines as profiled, then times every schedule with the test's own answers
 * on engines that deviate from the profile as real ones do: by model, so that all shards of an expert deviate alike. Every schedule answers
 * the same prompts. Loads are as planned.
 *
 * @param scale of the instance's answers relative to MMLU-Pro's.
 */
export function measuredRace(
  instance: SourceInstance,
  { scale, seed, engine }: { readonly scale: number; readonly seed: number; readonly engine: MilpEngine },
): MeasuredRace {
  const timing: Timing = { scaleOf: () => scale, seed, calibrated: true, slownessSeed: KNOWN_SEED };
  const experts = simulatedExperts(instance.prompts, { ...timing, seed: mixSeed(seed, "calibration"), count: CALIBRATION_QUESTIONS });
  const placed = placeSchedules(experts, engine);
  const measure = (schedule: Schedule): PlannedAndMeasured => ({
    plannedSeconds: timeSchedule(experts, schedule).makespanSeconds,
    measured: timeSchedule(experts, schedule, hiddenSeconds(instance, timing)),
  });
  return {
    roundRobin: measure(placed.roundRobin),
    dataConcurrent: measure(placed.dataConcurrent),
    listScheduling: measure(placed.listScheduling),
    placed: measure(placed.schedule),
    optimality: placed.optimality,
    replicas: placed.replicas,
  };
}

/** Seconds of one schedule's sessions on hidden engines: each takes the next of its expert's prompts. */
function hiddenSeconds({ prompts }: SourceInstance, timing: Timing) {
  const begun = new Map<number, number>();
  const test = sourceExperts.map((expert, at) => {
    const count = prompts[at] ?? 0;
    return count === 0 ? null : lengthsOf(expert, { ...timing, seed: mixSeed(timing.seed, "test"), count });
  });
  return ({ expert: at, prompts: count }: { readonly expert: number; readonly prompts: number }): number => {
    const [expert, lengths] = [sourceExperts[at], test[at]];
    if (expert === undefined || lengths == null) throw new RangeError(`Expert ${at} is asked nothing`);
    const from = begun.get(at) ?? 0;
    begun.set(at, from + count);
    const replica = hiddenEngine(engineOf(expert.card), timing.seed, expert.name);
    return slowness(expert, { seed: timing.slownessSeed ?? timing.seed }) * sessionSeconds(replica, lengths, from, count);
  };
}

const sessionSeconds = (replica: ReplicaModel, lengths: Lengths, from: number, count: number): number =>
  endSeconds(replica, lengths, { from, count }).reduce((last, seconds) => Math.max(last, seconds), 0);

type Lengths = Pick<ServedRequests, "inputTokens" | "outputTokens">;

/** When each of some consecutive prompts is answered, all sent at once to one engine at 0 s. */
export function endSeconds(
  replica: ReplicaModel,
  { inputTokens, outputTokens }: Lengths,
  { from, count }: { readonly from: number; readonly count: number },
): Float64Array {
  const part = (values: ArrayLike<number>): Int32Array => Int32Array.from({ length: count }, (_, at) => values[from + at] ?? 0);
  const own = { inputTokens: part(inputTokens), outputTokens: part(outputTokens) };
  const outcome = simulateClosedLoop(replica, own, { concurrency: Math.min(count, replica.maxSequences) });
  return outcome.endToEndSeconds.map((seconds, at) => seconds + (outcome.arrivalSeconds[at] ?? 0));
}
