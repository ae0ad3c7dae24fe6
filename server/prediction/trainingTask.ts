import type { ArtefactTraining, TrainRequest } from "@/server/contracts/artefacts";
import type { Artefact } from "@/server/contracts/studio";
import { loadEncoder } from "@/server/encoders/encoder";
import { workerFile } from "@/server/planning/workerFile";
import { decodeWorkload } from "@/server/planning/workloadCodec";
import type { openToRead } from "@/server/store/openToRead";
import { mixSeed } from "@/solver/numeric/random";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { type ConfidenceRows, trainConfidence } from "@/solver/prediction/confidence";
import { heldOutConfidence, heldOutLengths } from "@/solver/prediction/heldOut";
import { type LengthRows, trainLengths } from "@/solver/prediction/lengths";
import type { PromptTexts } from "@/solver/prediction/programFacts";
import { confidenceRowsOf, lengthRowsOf } from "@/solver/prediction/programRows";
import { sketchOf } from "@/solver/prediction/sketch";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { textsOf } from "./textsOf";
import { trafficRows } from "./trafficRows";

/** Modelled programs that lengths are learnt of, and others that they are held against. */
const PROGRAMS = { train: 3000, heldOut: 1000 } as const;

/** What a thread that trains a predictor is told. */
export type TrainingTask =
  | { readonly file: string; readonly request: Exclude<TrainRequest, { train: "traffic" }> }
  | {
      readonly request: Extract<TrainRequest, { train: "traffic" }>;
      /** As the gateway wrote them, and when it was asked. */
      readonly lines: readonly string[];
      readonly atMs: number;
      readonly clusterName: string;
      readonly emulated: boolean;
    };

/** A trained predictor, ready to be stored under the hash of its bytes. */
export interface Trained extends Pick<Artefact, "kind" | "training" | "heldOut"> {
  readonly bytes: Uint8Array;
}

/** What a training thread tells: what it is doing, and last how it ended. */
export type TrainingReply =
  | { readonly kind: "doing"; readonly doing: string }
  | { readonly kind: "trained"; readonly trained: Trained }
  | { readonly kind: "refused"; readonly message: string };

type ToRead = Pick<ReturnType<typeof openToRead>, "workloads" | "profiles" | "prompts">;

/**
 * Trains a predictor on the prompts that plans are made on, and measures it on those that are held out from them. The same request, store and
 * release give the same bytes.
 *
 * @throws Error or RangeError, in a sentence, where there is nothing to learn from, or an encoder cannot be used.
 */
export async function train(
  request: Exclude<TrainRequest, { train: "traffic" }>,
  store: ToRead,
  tell: (doing: string) => void,
): Promise<Trained> {
  tell("Reading the workload");
  const data = store.workloads.data(request.workloadId);
  if (data === null) throw new Error("This workload is not kept any more.");
  const workload = decodeWorkload(data);
  const { outcomes } = workload;
  const texts = textsOf(store, request.workloadId, outcomes.promptIds);
  const ground = { workload, texts, split: splitPrompts(outcomes.promptIds.length, workload.seed), tell };
  const told = {
    workloadId: request.workloadId,
    workloadName: workload.name,
    models: outcomes.models.map(({ model }) => model),
    prompts: ground.split.planning.length,
    texts: texts !== null,
    emulated: workload.origin.generated || workload.origin.measured?.emulated === true,
  };
  return request.train === "lengths" ? lengthsOf(request, ground, told) : confidenceOf(request, ground, told);
}

interface Ground {
  readonly workload: Workload;
  readonly texts: readonly (string | null)[] | null;
  readonly split: { readonly planning: Int32Array; readonly heldOut: Int32Array };
  readonly tell: (doing: string) => void;
}
type Told = Omit<ArtefactTraining, "workflows" | "correlation" | "requests" | "encoder" | "source">;

function lengthsOf(
  { workflows: names, correlation }: Extract<TrainRequest, { train: "lengths" }>,
  { workload, texts, split, tell }: Ground,
  told: Told,
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
    ...told,
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
  { workload, texts, split, tell }: Ground,
  told: Told,
): Promise<Trained> {
  const { outcomes, seed } = workload;
  const known = sketchesOf(outcomes.inputTokens, texts);
  const parts = [split.planning, split.heldOut].map((rows) => confidenceRowsOf(outcomes, rows, known));
  const [rows, heldOut] = encoderFolder === undefined ? parts : await embedded(encoderFolder, { workload, texts, split, tell }, parts);
  if (rows === undefined || heldOut === undefined) throw new Error("The prompts could not be split.");
  tell(`Learning from ${rows.facts.length} labelled prompts`);
  const artefact = trainConfidence(rows, { seed: mixSeed(seed, "confidence") });
  tell("Measuring on prompts it has not seen");
  const requests = rows.facts.length * rows.models.length;
  const encoder = rows.embeddings?.encoder ?? null;
  const training = { ...told, workflows: [], correlation: null, requests, encoder, source: "labelled prompts" } as const;
  return { kind: "confidence", training, heldOut: heldOutConfidence(artefact, heldOut), bytes: encodeArtefact(artefact) };
}

/** Both parts with what an encoder makes of their texts. */
async function embedded(
  folder: string,
  { texts, split, tell }: Ground,
  parts: readonly ConfidenceRows[],
): Promise<readonly ConfidenceRows[]> {
  if (texts === null || texts.includes(null))
    throw new Error(
      "An encoder reads texts, and those of this workload's prompts are not at hand: make a workload of a profile whose prompts are kept, or train on words.",
    );
  tell("Loading the encoder");
  const encoder = await loadEncoder(folder, workerFile("encoderProcess"));
  const whole = split.planning.length + split.heldOut.length;
  try {
    const found: ConfidenceRows[] = [];
    for (const [part, rows] of parts.entries()) {
      const prompts = part === 0 ? split.planning : split.heldOut;
      const before = part === 0 ? 0 : split.planning.length;
      const { dimensions, values } = await encoder.embed(
        Array.from(prompts, (row) => texts[row] ?? ""),
        (done) => tell(`Encoding ${before + done} of ${whole} prompts`),
      );
      found.push({ ...rows, embeddings: { encoder: { name: encoder.name, sha256: encoder.sha256 }, dimensions, values } });
    }
    return found;
  } finally {
    encoder.close();
  }
}

/**
 * Trains lengths on requests that a gateway remembers: on the earlier ones, measured on the later ones.
 *
 * @throws Error or RangeError, in a sentence, where there is not enough to learn from.
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

function sketchesOf(promptTokens: Int32Array, texts: readonly (string | null)[] | null): PromptTexts {
  return {
    promptTokens,
    sketches: Array.from(promptTokens, (_, row) => {
      const text = texts?.[row] ?? null;
      return text === null ? null : sketchOf(text);
    }),
  };
}
