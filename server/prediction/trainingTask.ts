import type { ArtefactTraining, TrainRequest } from "@/server/contracts/gateway/artefacts";
import type { openToRead } from "@/server/store/openToRead";
import { decodeWorkload } from "@/server/workloads/workloadCodec";
import { mixSeed } from "@/solver/numeric/random";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { heldOutLengths } from "@/solver/prediction/heldOut";
import { type LengthRows, trainLengths } from "@/solver/prediction/lengths";
import { lengthRowsOf } from "@/solver/prediction/programRows";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { splitPrompts } from "@/solver/workload/split";
import { trainedConfidence } from "./confidenceTraining";
import { configurationsOf } from "./configurationTraining";
import { embedPrompts } from "./embedPrompts";
import type { ExecutedTask } from "./executedTraining";
import { textsOf } from "./textsOf";
import { trafficRows } from "./trafficRows";
import { sketchesOf, type Trained, type TrainingContext, type TrainingSummary } from "./trainingContext";

/** Modelled programs from which lengths are learnt, and others for measuring the error. */
const PROGRAMS = { train: 3000, heldOut: 1000 } as const;

/** A training task on the data in a store's file. */
export type StoredTraining = { readonly file: string } & (
  | { readonly request: Extract<TrainRequest, { train: "lengths" | "confidence" }> }
  | { readonly request: Extract<TrainRequest, { train: "configurations" }>; readonly workflow: WorkflowDocument }
);

/** What a training thread is started with. */
export type TrainingTask =
  | StoredTraining
  | ExecutedTask
  | {
      readonly request: Extract<TrainRequest, { train: "traffic" }>;
      /** As the gateway wrote them, and the time of the request. */
      readonly lines: readonly string[];
      readonly atMs: number;
      readonly clusterName: string;
      readonly emulated: boolean;
    };

type ToRead = Pick<ReturnType<typeof openToRead>, "workloads" | "profiles" | "prompts">;

/**
 * Trains a predictor on the planning prompts, and measures it on the held-out ones. The same request, store and release give the same
 * bytes.
 *
 * @throws Error or RangeError, in a sentence, if there is no training data, or an encoder cannot be used.
 */
export async function train(task: StoredTraining, store: ToRead, tell: (doing: string) => void): Promise<Trained> {
  const { request } = task;
  tell("Reading the workload");
  const data = store.workloads.data(request.workloadId);
  if (data === null) throw new Error("This workload is not kept any more.");
  const workload = decodeWorkload(data);
  const { outcomes } = workload;
  const texts = textsOf(store, request.workloadId, outcomes.promptIds);
  const context = { workload, texts, split: splitPrompts(outcomes.promptIds.length, workload.seed), tell };
  const summary = {
    workloadId: request.workloadId,
    workloadName: workload.name,
    models: outcomes.models.map(({ model }) => model),
    prompts: context.split.planning.length,
    texts: texts !== null,
    emulated: workload.origin.generated || workload.origin.measured?.emulated === true,
  };
  if (request.train === "lengths") return lengthsOf(request, context, summary);
  if (request.train === "confidence") return confidenceOf(request, context, summary);
  if (!("workflow" in task)) throw new Error("This workflow is not kept any more.");
  return configurationsOf({ ...task, request }, context, summary);
}

function lengthsOf(
  { workflows: names, correlation }: Extract<TrainRequest, { train: "lengths" }>,
  { workload, texts, split, tell }: TrainingContext,
  summary: TrainingSummary,
): Trained {
  const mix = names.map((name) => {
    const workflow = workflows.find((one) => one.name === name);
    if (workflow === undefined) throw new Error(`There is no workflow "${name}".`);
    return { workflow, share: 1 };
  });
  const { outcomes, seed } = workload;
  const known = sketchesOf(outcomes.inputTokens, texts);
  const rowsOf = (prompts: Int32Array, part: keyof typeof PROGRAMS): LengthRows => {
    const sample = drawPrograms({
      ...{ outcomes, prompts, mix, correlation },
      arrivalSeconds: Float64Array.from({ length: PROGRAMS[part] }, (_, program) => program),
      seed: mixSeed(seed, `predictors ${part}`),
    });
    return lengthRowsOf(sample, known);
  };
  tell(`Drawing ${PROGRAMS.train + PROGRAMS.heldOut} programs`);
  const rows = rowsOf(split.planning, "train");
  const training = {
    ...summary,
    workflows: names,
    correlation,
    requests: countRows(rows),
    encoder: null,
    source: "modelled programs",
  } as const;
  return trainedLengths({ rows, heldOut: rowsOf(split.heldOut, "heldOut"), training, seed, tell });
}

/** The predictor of the rows, measured on others. */
function trainedLengths(given: {
  readonly rows: LengthRows;
  readonly heldOut: LengthRows;
  readonly training: ArtefactTraining;
  readonly seed: number;
  readonly tell: (doing: string) => void;
}): Trained {
  const { rows, heldOut, training, seed, tell } = given;
  tell(`Learning lengths of ${training.requests} requests`);
  const artefact = trainLengths(rows, { seed: mixSeed(seed, "lengths") });
  tell("Measuring on requests it has not seen");
  return { kind: "lengths", training, heldOut: heldOutLengths(artefact, heldOut), bytes: encodeArtefact(artefact) };
}

async function confidenceOf(
  { encoderFolder }: Extract<TrainRequest, { train: "confidence" }>,
  context: TrainingContext,
  summary: TrainingSummary,
): Promise<Trained> {
  const { texts, split, tell } = context;
  const embedded = encoderFolder === undefined ? [] : await embedPrompts(encoderFolder, texts, [split.planning, split.heldOut], tell);
  const { rows, heldOut, bytes, scores } = trainedConfidence(context, embedded);
  const requests = rows.facts.length * rows.models.length;
  const encoder = rows.embeddings?.encoder ?? null;
  const training = { ...summary, workflows: [], correlation: null, requests, encoder, source: "labelled prompts" } as const;
  return { kind: "confidence", training, heldOut, bytes, scores };
}

/**
 * Trains lengths on requests in a gateway's log: on the earlier ones, measured on the later ones.
 *
 * @throws Error or RangeError, in a sentence, if there is not enough training data.
 */
export function trainOnTraffic(task: Extract<TrainingTask, { lines: unknown }>, tell: (doing: string) => void): Trained {
  const { request, lines, atMs, clusterName, emulated } = task;
  tell(`Reading ${lines.length} answers`);
  const { rows, heldOut, texts, leftOut } = trafficRows(lines, atMs);
  const training: ArtefactTraining = {
    workloadId: request.clusterId,
    workloadName: clusterName,
    models: rows.models.map(({ model }) => model),
    workflows: [],
    correlation: null,
    prompts: rows.prompts,
    requests: countRows(rows),
    texts,
    encoder: null,
    source: "traffic",
    leftOut,
    emulated,
  };
  return trainedLengths({ rows, heldOut, training, seed: 1, tell });
}

const countRows = ({ models }: LengthRows): number => models.reduce((sum, { facts }) => sum + facts.length, 0);
