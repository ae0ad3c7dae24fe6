import type { Artefact } from "@/server/contracts/studio";
import type { LabSpec, LabSystem } from "@/server/contracts/studio/lab";
import { extrapolations } from "@/solver/calibration/extrapolations";
import { raceLimits } from "@/solver/lab/raceLimits";
import { callGatesOf, judgesAny, thresholdsOf } from "@/solver/plan/policySchema";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { undeclared } from "./labConfigurations";
import type { LabHardware } from "./labEngines";
import { predicts, readsPredictors } from "./labGround";

export interface NotedRun extends LabHardware {
  readonly spec: LabSpec;
  readonly workload: Pick<Workload, "outcomes" | "origin">;
  /** Whether prompts' texts are available. */
  readonly texts: boolean;
  /** What to know of the recorded runs that its programs are; left out where programs are drawn. */
  readonly recorded?: readonly string[] | undefined;
}

/** Programs that come for less than this, in seconds, are few times what one takes: the run is mostly filling and draining. */
export const LEAST_SPAN_SECONDS = 60;

/** What a reader must know before trusting a run's figures, in sentences. */
export function labNotes({ spec, workload, texts, recorded, catalogue, profile }: NotedRun): readonly string[] {
  const learns = spec.systems.some(readsPredictors);
  const { origin, outcomes } = workload;
  return [
    `Engines are modelled, with the profile ${profile.name}: nothing here ran on a GPU.`,
    ...(recorded ?? [
      "Programs are modelled: lengths of stages and success of programs are made from single answers to prompts, as alike within a program as the correlation says.",
    ]),
    ...(origin.generated ? ["The workload is generated: it shows how policies differ, not what your models do."] : []),
    ...(origin.measured?.emulated ? ["The workload's labels came from emulated engines and say nothing of real models."] : []),
    ...(spec.arrivals === "workload" ? ["Every seed has the workload's own arrivals: seeds differ in prompts and lengths alone."] : []),
    ...(learns && !texts
      ? ["No texts of prompts are at hand: predictors learnt from token counts, workflow and stage alone, which tell little of confidence."]
      : []),
    ...(spec.systems.some(learnsWorkflows)
      ? [
          "What workflows teach, of which agent's programs end soonest and how long its requests take, is learnt in each run from nothing: until its first programs have ended, systems that read it go by arrival.",
        ]
      : []),
    ...justInTimeNotes(spec),
    ...(spec.enginesDeviate ? ["Engines deviate from their profile by factors drawn by the seed; systems decide by the profile."] : []),
    ...prefixNotes(spec),
    ...(spec.systems.some(({ policy }) => callGatesOf(policy).length > 0)
      ? ["Agents' answers are scored by the workload's scores of single answers to the same prompts, in no time."]
      : []),
    ...(spec.systems.some(({ policy }) => judgesAny(thresholdsOf(policy)))
      ? [
          "Answers are judged with the workload's scores of single answers to the same prompts, in the time that the policy states whatever the judge's load; the judge's GPUs are not counted.",
        ]
      : []),
    ...(spec.systems.some(goesByOrder)
      ? [
          "Without a margin slack dispatch uses the order of confidences alone: where a predictor is always surer of one model, it chooses as without a router.",
        ]
      : []),
    spec.seeds.length === 1
      ? "One seed: no interval can be given."
      : "Intervals over seeds hold what draws of programs differ in: all seeds share the prompts that were held out and what predictors learnt of the others.",
    ...raceLimits(spec),
    ...brief(spec),
    ...extrapolated(spec, outcomes, { catalogue, profile }),
  ];
}

/** What engines keep of prompts, and which systems have nothing to place by. */
function prefixNotes({ sharedPrefixes, systems }: LabSpec): readonly string[] {
  const placing = systems.filter(({ policy }) => policy.place.kind === "prefix");
  if (sharedPrefixes === undefined)
    return placing.map(({ name }) => `${name} places by prefix, and no prompts share one here: it decides as by least load.`);
  const shared =
    sharedPrefixes === "instructions" ? "their agents' instructions" : "their agents' instructions, and histories in a program";
  return [`What prompts share is modelled: ${shared}. Engines keep it in the memory that running requests leave.`];
}

const goesByOrder = ({ policy, confidence }: LabSystem): boolean =>
  policy.kind === "slack" && policy.deltaScore === 0 && predicts(confidence);

const learnsWorkflows = ({ policy }: LabSystem): boolean =>
  policy.order.kind === "workflow" || policy.order.kind === "depth" || policy.place.kind === "time-slots";

/** What is modelled of configurations, and which workflows have none. */
function justInTimeNotes({ systems, mix, misleads }: LabSpec): readonly string[] {
  const choosing = systems.filter(({ policy }) => policy.kind === "just-in-time");
  if (choosing.length === 0) return [];
  const chance =
    misleads === undefined
      ? "no wrong answer of an agent that helps misleads those that read it"
      : `a wrong answer of an agent that helps misleads one that reads it with a chance of ${misleads}`;
  return [
    `Which configurations are accurate is modelled: agents' answers are as right as their models' single answers, later agents repair earlier errors, and ${chance}.`,
    ...new Set(
      choosing.flatMap(({ name, policy }) => {
        const names = undeclared(policy, mix);
        return names.length === 0
          ? []
          : [
              `${name} declares no ${names.join(", ")} with the agents that are raced: its requests go ${policy.kind === "just-in-time" && policy.singles !== undefined ? "by the route of single requests" : "to the largest model"}.`,
            ];
      }),
    ),
  ];
}

/** The rates at which programs come for too short a time, in one sentence. */
function brief({ rates, programs }: LabSpec): string[] {
  const most = Math.max(...rates);
  const span = programs / most;
  if (span >= LEAST_SPAN_SECONDS) return [];
  const seconds = Number(span.toPrecision(2));
  return [`At ${most} programs/s ${programs} programs come for ${seconds} s only: filling and draining of engines weigh in its figures.`];
}

/** The dimensions in which the engines are outside of the data that their profile was fitted to, without duplicates. */
function extrapolated(
  { replicas, systems }: LabSpec,
  { inputTokens, models }: OutcomeTable,
  { catalogue, profile }: LabHardware,
): string[] {
  const meanOf = (values: Int32Array): number => Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
  const engines = [...replicas, ...systems.flatMap((system) => system.replicas ?? [])];
  const said = engines.flatMap(({ model, gpu, precision, tp, pp }) => {
    const outputTokens = meanOf(models.find((own) => own.model === model)?.outputTokens ?? new Int32Array());
    const row = {
      ...{ model, gpu, engine: profile.engine, precision, kvPrecision: "bf16" as const, shape: { tp, pp } },
      ...{ inputTokens: meanOf(inputTokens), outputTokens, concurrency: 1 },
    };
    const reasons = extrapolations(row, profile, catalogue);
    return reasons.length === 0 ? [] : [`Times of ${model} on ${gpu} are extrapolated: ${reasons.join("; ")}.`];
  });
  return [...new Set(said)];
}

/**
 * What trained predictors that a run names may have learnt of the very prompts that it serves, a sentence each. A predictor that was trained on
 * the run's workload was held back from them, and nothing is said of it.
 */
export const predictorNotes = (predictors: readonly Pick<Artefact, "hash" | "training">[], workloadId: string): readonly string[] =>
  predictors.flatMap(({ hash, training: { source, emulated, workloadId: own, workloadName } }) => {
    const name = `The predictor ${hash.slice(0, 12)}`;
    if (source === "traffic")
      return emulated
        ? `${name} learnt from traffic of emulated engines, which replay held-out prompts: those of this run may be among them, and it may look better than it is.`
        : `${name} learnt from traffic: prompts of this run may have been among it, and it may look better than it is.`;
    if (source === "executed runs")
      return `${name} learnt from executed runs in ${workloadName}: prompts of this run may have been among their inputs, and it may look better than it is.`;
    return own === workloadId
      ? []
      : `${name} learnt from another workload, ${workloadName}: prompts of this run may have been among its own, and it may look better than it is.`;
  });
