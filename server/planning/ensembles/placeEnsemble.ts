import type { Outcome } from "@/server/contracts/studio";
import type { EnsemblePlacement, PlacedSchedule, PlaceRequest, ScheduleKind } from "@/server/contracts/studio/ensembles";
import { aggregatorReadTokens } from "@/solver/ensemble/gate/aggregatorPrompt";
import { answerLimit } from "@/solver/ensemble/gate/answerLimit";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { baselineSchedules } from "@/solver/ensemble/placement/baselineSchedules";
import { placeExperts } from "@/solver/ensemble/placement/placeExperts";
import type { PlacedExpert, PlacementProblem } from "@/solver/ensemble/placement/placement";
import { replicaCap } from "@/solver/ensemble/placement/replicaCap";
import type { TimedSchedule } from "@/solver/ensemble/placement/timeSchedule";
import { type AggregatedQuestions, quickestPool } from "@/solver/ensemble/sessions/aggregatorStage";
import { estimatedLoadSeconds } from "@/solver/ensemble/sessions/loadEstimate";
import type { AnswerLengths } from "@/solver/ensemble/sessions/outputLengths";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import { poolShapes } from "@/solver/ensemble/sessions/workerShape";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { GpuCard } from "@/solver/hardware/gpus";
import { quantile } from "@/solver/numeric/quantile";
import { loadHighsEngine } from "./highsEngine";
import { type ModelSessions, modelSessions, preferred } from "./modelSessions";

/** The whole input of placing an ensemble's experts, as plain data. */
export interface PlaceTask {
  readonly ensemble: Ensemble;
  /** Id of the workers' GPU card. */
  readonly gpu: string;
  readonly gpusPerWorker: number;
  readonly workers: number;
  /** The workers' GPUs by node; the aggregator's engines use no others. */
  readonly gpusByNode: readonly number[];
  /** null: swept. */
  readonly maxModelsPerWorker: number | null;
  readonly replicas: "amortised" | "single";
  readonly storage: PlaceRequest["storage"];
  readonly questions: number;
  /** Prompts of each expert, in the ensemble's order. */
  readonly prompts: readonly number[];
  /** By model, the aggregator's too; an expert's cover the prompts that it answers. */
  readonly lengths: Readonly<Record<string, AnswerLengths>>;
  /** Output limits in tokens of some of the prompts themselves; null: the engine's limit. Empty: unknown. */
  readonly ownLimits: readonly (number | null)[];
  /** The source of the lengths, as the end of the sentence "Answers are as long as ...". */
  readonly lengthsSource: string;
  /**
   * Sampled questions as the aggregator reads them; null: combined from the experts' lengths, with the same probability of aggregation for
   * every length.
   */
  readonly aggregated: AggregatedQuestions | null;
  /** Sessions of the experts and the aggregator on that GPU; others are ignored. */
  readonly sessionRows: readonly SessionRow[];
  readonly engineProfile: EngineProfile;
  readonly cards: CardCatalogue;
  /** Requests that a session has in flight at most; null: the engine's limit. */
  readonly concurrency: number | null;
}

/** Time limit of the search over all K together. */
const TIME_LIMIT_SECONDS = 10;
/** Precision of the sessions' costs: no model is loaded, nor K raised, for a smaller share of the makespan. */
const FEWEST_LOADS_WITHIN = 0.005;

/**
 * Places an ensemble's experts on workers (MOSAIC, section 4.1) and times alternatives with the same cost of sessions. The placement has
 * the fewest loads and the least K found within half a percent of the shortest makespan.
 *
 * @returns in a sentence why there is no placement. It takes seconds: run it in its own thread.
 */
export async function placeEnsemble(task: PlaceTask): Promise<Outcome<{ readonly placement: EnsemblePlacement }>> {
  const gpu = cardOf(task.cards.gpus, task.gpu);
  if (gpu === undefined) return { ok: false, message: `There is no card of the GPU ${task.gpu}.` };
  const experts: (ModelSessions & PlacedExpert)[] = [];
  for (const [at, name] of task.ensemble.experts.entries()) {
    const prompts = task.prompts[at] ?? 0;
    const found = sessionsOf(task, gpu, { model: name, prompts });
    if (!found.ok) return found;
    experts.push({ ...found.sessions, name, prompts });
  }
  const { workers, replicas, maxModelsPerWorker } = task;
  const engine = await loadHighsEngine();
  const from = performance.now();
  const limits = { engine, timeLimitSeconds: TIME_LIMIT_SECONDS, fewestLoadsWithin: FEWEST_LOADS_WITHIN };
  const placed = placeExperts({ workers, experts, replicas, maxModelsPerWorker }, limits);
  if (!placed.ok) return placed;
  const seconds = (performance.now() - from) / 1000;
  const { timed, says, sweep, optimality } = placed.value;
  const problem = { workers, experts, replicas, maxModelsPerWorker: placed.value.maxModelsPerWorker };
  const aggregator = aggregatorOf(task, gpu);
  return {
    ok: true,
    placement: {
      ...{ gpu: task.gpu, gpusPerWorker: task.gpusPerWorker, questions: task.questions, sweep: maxModelsPerWorker === null ? sweep : [] },
      maxModelsPerWorker: problem.maxModelsPerWorker,
      experts: experts.map((expert, at) => placedExpert({ expert, at, problem, timed, says: says[at] ?? "" })),
      schedules: [schedule("placed", timed, experts), ...baselines(problem)],
      solved: { ...optimality, makespanSeconds: timed.makespanSeconds, engine: engine.name, seconds },
      aggregator,
      notes: notesOf(task, experts, aggregator),
    },
  };
}

function sessionsOf(
  { cards, lengths, ownLimits, ensemble, gpusPerWorker, sessionRows: rows, storage, engineProfile: profile, concurrency }: PlaceTask,
  gpu: GpuCard,
  { model: name, prompts }: { readonly model: string; readonly prompts: number },
): ReturnType<typeof modelSessions> {
  const model = cardOf(cards.models, name);
  if (model === undefined) return { ok: false, message: `There is no card of ${name}, which says how large it is: add one under Cards.` };
  const own = lengths[name];
  if (own === undefined || own.outputTokens.length === 0) return { ok: false, message: `Nothing tells how long answers of ${name} are.` };
  const bounded = atMost(own, ownLimits, ensemble.maxTokens);
  return modelSessions({ model, gpu, gpusPerWorker, prompts, lengths: bounded, rows, storage, profile, concurrency });
}

/** Answers are cut at the limits of prompts and ensemble. */
function atMost(
  { inputTokens, outputTokens }: AnswerLengths,
  ownLimits: PlaceTask["ownLimits"],
  maxTokens: number | undefined,
): AnswerLengths {
  const limits = ownLimits.length === 0 ? [null] : ownLimits;
  const limitOf = (row: number): number => answerLimit(limits[row % limits.length] ?? null, maxTokens) ?? Number.POSITIVE_INFINITY;
  return { inputTokens, outputTokens: Float64Array.from(outputTokens, (tokens, row) => Math.min(tokens, limitOf(row))) };
}

function placedExpert({
  expert,
  at,
  problem,
  timed,
  says,
}: {
  readonly expert: ModelSessions & PlacedExpert;
  readonly at: number;
  readonly problem: PlacementProblem;
  readonly timed: TimedSchedule;
  readonly says: string;
}): EnsemblePlacement["experts"][number] {
  const { name, prompts, loadSeconds, cost, costFrom, loadFrom, meanOutputTokens } = expert;
  const shards = timed.workers.flat().filter((session) => session.expert === at);
  const tokensPerSecond = (count: number): number => (count > 0 ? (count * meanOutputTokens) / cost(count) : 0);
  return {
    ...{ model: name, prompts, loadSeconds, says, cost: costFrom, load: loadFrom },
    secondsPerPrompt: prompts > 0 ? cost(prompts) / prompts : 0,
    replicaCap: replicaCap(expert, problem.workers, problem.replicas),
    replicas: shards.length,
    tokensPerSecond: {
      whole: tokensPerSecond(prompts),
      shard: shards.length > 1 ? tokensPerSecond(Math.min(...shards.map((session) => session.prompts))) : null,
    },
  };
}

function schedule(kind: ScheduleKind, timed: TimedSchedule, experts: readonly PlacedExpert[]): PlacedSchedule {
  const workers = timed.workers.map((sessions) =>
    sessions.map(({ expert, prompts, fromSeconds, readySeconds, untilSeconds }) => ({
      ...{ model: experts[expert]?.name ?? "", prompts, fromSeconds, readySeconds, untilSeconds },
    })),
  );
  return { kind, workers, makespanSeconds: timed.makespanSeconds, idle: timed.idle, loads: timed.loads };
}

/** The alternatives for comparison; those that exist within K. */
function baselines(problem: PlacementProblem): readonly PlacedSchedule[] {
  return baselineSchedules(problem).flatMap(({ kind, timed }) => (timed === null ? [] : [schedule(kind, timed, problem.experts)]));
}

function aggregatorOf(task: PlaceTask, gpu: GpuCard): EnsemblePlacement["aggregator"] {
  const { ensemble, cards, ownLimits, gpusByNode: nodes, engineProfile: profile, storage, questions, concurrency } = task;
  const name = ensemble.aggregator.model;
  const model = cardOf(cards.models, name);
  const sampled = task.aggregated ?? ofLengths(task);
  if (model === undefined || sampled === null) return null;
  const outputTokens = atMost(
    { inputTokens: [], outputTokens: sampled.outputTokens },
    ownLimits,
    ensemble.aggregator.maxTokens,
  ).outputTokens;
  const { expertsPerQuestion, aggregator } = ensemble;
  const readTokens = (tokens: number): number => aggregatorReadTokens(tokens, expertsPerQuestion, aggregator.instruction);
  const answerTokens = Float64Array.from(sampled.answerTokens, readTokens);
  // Loads are compared by estimates for every shape: most of them have no measurement.
  const pools = poolShapes(model, gpu, { nodes, profile }).map((pool) => ({
    ...pool,
    loadSeconds: estimatedLoadSeconds(model, pool.shape.tp, storage).seconds,
  }));
  const quickest = quickestPool({ ...sampled, answerTokens, outputTokens }, pools, { questions, concurrency });
  if (quickest === null) return null;
  const { pool, points } = quickest;
  const { tp } = pool.shape;
  const loaded = task.sessionRows.filter((row) => row.model === name && row.gpu === gpu.id && row.tp === tp);
  const loads = preferred(loaded.filter((row) => row.loadSeconds !== null)).rows.map((row) => row.loadSeconds ?? 0);
  const loadSeconds = loads.length > 0 ? quantile(loads, 0.5) : pool.loadSeconds;
  return { model: name, tp, copies: pool.copies, loadSeconds, points };
}

const MOST_QUESTIONS = 2000;

/** Questions with the total mean length of their experts' answers; null if the aggregator's own lengths are unknown. */
function ofLengths({ ensemble, lengths, ownLimits, prompts, questions }: PlaceTask): AggregatedQuestions | null {
  const own = lengths[ensemble.aggregator.model];
  if (own === undefined || own.outputTokens.length === 0) return null;
  const rows = Math.min(own.outputTokens.length, MOST_QUESTIONS);
  const answers = ensemble.experts.map((name, at) => ({
    tokens: atMost(lengths[name] ?? { inputTokens: [], outputTokens: [] }, ownLimits, ensemble.maxTokens).outputTokens,
    share: (prompts[at] ?? 0) / questions,
  }));
  return {
    questionTokens: Float64Array.from({ length: rows }, (_, row) => own.inputTokens[row] ?? 0),
    answerTokens: Float64Array.from({ length: rows }, (_, row) =>
      answers.reduce((sum, { tokens, share }) => sum + share * (tokens.length === 0 ? 0 : (tokens[row % tokens.length] ?? 0)), 0),
    ),
    outputTokens: own.outputTokens,
    confidence: null,
  };
}

function notesOf(
  task: PlaceTask,
  experts: readonly (ModelSessions & PlacedExpert)[],
  aggregator: EnsemblePlacement["aggregator"],
): readonly string[] {
  const named = (of: (expert: ModelSessions) => boolean): string =>
    experts
      .filter(of)
      .map(({ name }) => name)
      .join(", ");
  const modelled = named(({ costFrom }) => costFrom.kind === "modelled");
  const estimated = named(({ loadFrom }) => loadFrom.kind === "estimated");
  const { gpu, workers, gpusPerWorker, ensemble } = task;
  return [
    `Answers are as long as ${task.lengthsSource}.`,
    ...(modelled === "" ? [] : [`Modelled: too little was measured of sessions of ${modelled} on ${gpu}.`]),
    ...(estimated === "" ? [] : [`Estimated: no loads of ${estimated} were measured.`]),
    "Every schedule is timed with the same cost of sessions, in which small shards lose throughput; data-concurrent knows neither K nor caps of replicas.",
    aggregator === null
      ? `The aggregator ${ensemble.aggregator.model} cannot be timed on ${workers * gpusPerWorker} x ${gpu}: no engine of it fits there, or has room for a question with its answers.`
      : `Modelled: the aggregator's seconds, on all workers' GPUs after the experts, ${task.aggregated?.confidence ? "the questions that experts agree on least first" : "as if all questions were alike"}.`,
  ];
}
