import { arrivals } from "@/solver/engine/arrivals";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { ServedRequests } from "@/solver/engine/throughputCurve";
import { dataConcurrent, listScheduling, roundRobin } from "@/solver/ensemble/placement/baselineSchedules";
import { placeExperts } from "@/solver/ensemble/placement/placeExperts";
import type { PlacedExpert, PlacementProblem, Schedule } from "@/solver/ensemble/placement/placement";
import { timeSchedule } from "@/solver/ensemble/placement/timeSchedule";
import type { MilpEngine } from "@/solver/milp/engine";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { aggregatorEngine, aggregatorSlowness, drawnQuestions, EXPERTS_PER_QUESTION, LOAD_SECONDS } from "./aggregated";
import { engineOf, lengthsOf, simulatedExperts, slowness, type Timing } from "./drawnSessions";
import { CALIBRATION_QUESTIONS, endSeconds, hiddenEngine, KNOWN_SEED } from "./perturbedEngines";
import { meanAnswerTokens, type SourceInstance, sourceExperts, sourceK, sourceWorkers } from "./sourceInstances";

/** How experts of a round are scheduled. */
export type RoundSchedule = "round-robin" | "data-concurrent" | "list scheduling" | "placed";

/** Questions of one online run, the same for every system under a seed. */
interface OnlineQuestions {
  readonly arrivalSeconds: Float64Array;
  /** By question, its experts. */
  readonly asked: readonly (readonly number[])[];
  /** By question, its agreement, and what the aggregator reads and writes. */
  readonly confidence: Float64Array;
  readonly inputTokens: Int32Array;
  readonly outputTokens: Int32Array;
}

/** What a system took for each question, and how sure its placements were. */
interface OnlineRun {
  /** By question, from its arrival to its answer. */
  readonly seconds: Float64Array;
  readonly rounds: number;
  /** The widest gap of its placements to their bounds; 0 where nothing is placed. */
  readonly widestGap: number;
}

/** Places by search alone: a round has no time for proofs. */
const noEngine: MilpEngine = { name: "none", solve: () => ({ status: "undecided" }) };

/** Draws an instance's questions with Poisson arrivals: experts by their share of its prompts, agreement by its shares. */
export function onlineQuestions(
  instance: SourceInstance,
  { questions, perSecond, seed }: { readonly questions: number; readonly perSecond: number; readonly seed: number },
): OnlineQuestions {
  const random = seededRandom(mixSeed(seed, "recruited"));
  const asked = Array.from({ length: questions }, () => recruited(instance.prompts, () => random.next()));
  const readTokens = meanAnswerTokens(instance);
  const drawn = drawnQuestions(instance, { readTokens, writtenTokens: readTokens, runOn: 0, seed });
  const order = shuffled(drawn.confidence.length, seededRandom(mixSeed(seed, "agreement")));
  const rows = Array.from({ length: questions }, (_, at) => order[at % order.length] ?? 0);
  return {
    arrivalSeconds: arrivals({ law: { kind: "poisson" }, requests: questions, requestsPerSecond: perSecond, seed }),
    asked,
    confidence: Float64Array.from(rows, (row) => drawn.confidence[row] ?? 0),
    inputTokens: Int32Array.from(rows, (row) => (drawn.questionTokens[row] ?? 0) + (drawn.answerTokens[row] ?? 0)),
    outputTokens: Int32Array.from(rows, (row) => Math.max(1, drawn.outputTokens[row] ?? 1)),
  };
}

/** Different experts, each drawn by its share among those left. */
function recruited(prompts: readonly number[], next: () => number): readonly number[] {
  const left = new Set(prompts.keys());
  const chosen: number[] = [];
  while (chosen.length < EXPERTS_PER_QUESTION) {
    const among = [...left].filter((at) => (prompts[at] ?? 0) > 0);
    const drawn = next() * among.reduce((sum, each) => sum + (prompts[each] ?? 0), 0);
    const upTo = (place: number): number => among.slice(0, place + 1).reduce((sum, each) => sum + (prompts[each] ?? 0), 0);
    const picked = among.find((_, place) => drawn < upTo(place)) ?? among[0];
    if (picked === undefined) throw new RangeError("Too few experts are asked anything");
    left.delete(picked);
    chosen.push(picked);
  }
  return chosen;
}

/** What a planner knows of an instance's experts under a seed, and the hidden engines with the test's answers. */
interface OnlineEngines {
  readonly planned: readonly PlacedExpert[];
  readonly truth: readonly {
    readonly replica: ReplicaModel;
    readonly factor: number;
    readonly lengths: ServedRequests;
  }[];
  readonly aggregator: { readonly replica: ReplicaModel; readonly factor: number };
}

/** The same for every system and rate under a seed. */
export function onlineEngines(
  instance: SourceInstance,
  { questions, seed }: { readonly questions: number; readonly seed: number },
): OnlineEngines {
  const timing: Timing = { scaleOf: () => 1, seed, calibrated: true, slownessSeed: KNOWN_SEED };
  return {
    planned: simulatedExperts(instance.prompts, { ...timing, seed: mixSeed(seed, "calibration"), count: CALIBRATION_QUESTIONS }),
    truth: sourceExperts.map((expert) => ({
      replica: hiddenEngine(engineOf(expert.card), seed, expert.name),
      factor: slowness(expert, { seed: KNOWN_SEED }),
      lengths: lengthsOf(expert, { ...timing, seed: mixSeed(seed, "test"), count: questions }),
    })),
    aggregator: {
      replica: aggregatorEngine({ seed, hiddenEngines: true }),
      factor: aggregatorSlowness({ runOn: 0, seed, hiddenEngines: true }),
    },
  };
}

/**
 * Serves questions in rounds on the source's workers: all that arrived during a round are the next one's batch, experts first, then the
 * aggregator on all GPUs for those that are not skipped. Placements are made of the profile with lengths of a calibration subset; sessions
 * are those of hidden engines on the questions' own answers. A question is answered when its last expert's answer ends, where it is
 * skipped, or when the aggregator's does.
 *
 * @param tau null: every question is aggregated.
 */
export function serveInRounds(
  { planned, truth, aggregator }: OnlineEngines,
  questions: OnlineQuestions,
  { schedule, tau }: { readonly schedule: RoundSchedule; readonly tau: number | null },
): OnlineRun {
  const { arrivalSeconds, asked, confidence } = questions;
  const count = arrivalSeconds.length;
  const seconds = new Float64Array(count);
  const begun = sourceExperts.map(() => 0);
  let [now, from, rounds, widestGap] = [0, 0, 0, 0];
  while (from < count) {
    now = Math.max(now, arrivalSeconds[from] ?? 0);
    let to = from;
    while (to < count && (arrivalSeconds[to] ?? 0) <= now) to += 1;
    const batch = Array.from({ length: to - from }, (_, at) => from + at);
    const own = sourceExperts.map((_, expert) => batch.filter((question) => asked[question]?.includes(expert)));
    const made = scheduleOf(
      schedule,
      planned,
      own.map(({ length }) => length),
    );
    widestGap = Math.max(widestGap, made.gap);
    // Every session answers the next of its expert's questions; ends are kept relative to its first prompt.
    const taken = sourceExperts.map(() => 0);
    const ends: {
      readonly expert: number;
      readonly worker: number;
      readonly questions: readonly number[];
      readonly seconds: Float64Array;
    }[] = [];
    const timed = timeSchedule(planned, made.schedule, ({ expert, prompts }, worker) => {
      const engine = truth[expert];
      if (engine === undefined) throw new RangeError(`There is no expert ${expert}`);
      const first = taken[expert] ?? 0;
      taken[expert] = first + prompts;
      const range = { from: (begun[expert] ?? 0) + first, count: prompts };
      const answered = endSeconds(engine.replica, engine.lengths, range).map((end) => engine.factor * end);
      ends.push({ expert, worker, questions: own[expert]?.slice(first, first + prompts) ?? [], seconds: answered });
      return answered.reduce((last, end) => Math.max(last, end), 0);
    });
    for (const [expert, questionsOf] of own.entries()) begun[expert] = (begun[expert] ?? 0) + questionsOf.length;
    const expertsEnd = new Map<number, number>();
    for (const session of ends) {
      const readySeconds = timed.workers[session.worker]?.find(({ expert }) => expert === session.expert)?.readySeconds ?? 0;
      for (const [at, question] of session.questions.entries())
        expertsEnd.set(question, Math.max(expertsEnd.get(question) ?? 0, now + readySeconds + (session.seconds[at] ?? 0)));
    }
    const aggregated = batch.filter((question) => tau === null || (confidence[question] ?? 0) < tau - 1e-9);
    const experts = now + timed.makespanSeconds;
    let end = experts;
    if (aggregated.length > 0) {
      const lengths = {
        inputTokens: Int32Array.from(aggregated, (question) => questions.inputTokens[question] ?? 0),
        outputTokens: Int32Array.from(aggregated, (question) => questions.outputTokens[question] ?? 1),
      };
      const answered = endSeconds(aggregator.replica, lengths, { from: 0, count: aggregated.length });
      for (const [at, question] of aggregated.entries()) {
        const answeredSeconds = experts + LOAD_SECONDS + aggregator.factor * (answered[at] ?? 0);
        expertsEnd.set(question, answeredSeconds);
        end = Math.max(end, answeredSeconds);
      }
    }
    for (const question of batch) seconds[question] = (expertsEnd.get(question) ?? 0) - (arrivalSeconds[question] ?? 0);
    [now, from, rounds] = [end, to, rounds + 1];
  }
  return { seconds, rounds, widestGap };
}

/** A round's schedule by the planner's costs, and its gap. */
function scheduleOf(
  kind: RoundSchedule,
  planned: readonly PlacedExpert[],
  prompts: readonly number[],
): { readonly schedule: Schedule; readonly gap: number } {
  const experts = planned.map((expert, at) => ({ ...expert, prompts: prompts[at] ?? 0 }));
  const problem: PlacementProblem = { workers: sourceWorkers, experts, maxModelsPerWorker: sourceK, replicas: "amortised" };
  if (kind === "data-concurrent") return { schedule: dataConcurrent(problem), gap: 0 };
  if (kind === "placed") {
    const placed = placeExperts(problem, { engine: noEngine, timeLimitSeconds: 0 });
    if (!placed.ok) throw new Error(placed.message);
    return { schedule: placed.value.schedule, gap: placed.value.optimality.gap };
  }
  const schedule = kind === "round-robin" ? roundRobin(problem) : listScheduling(problem);
  if (schedule === null) throw new Error("a baseline does not exist within the source's K");
  return { schedule, gap: 0 };
}
