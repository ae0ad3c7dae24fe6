import type { ArtefactTraining, TrainRequest } from "@/server/contracts/gateway/artefacts";
import { mixSeed } from "@/solver/numeric/random";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { type ConfigurationRows, configurationRowsOf } from "@/solver/prediction/configurationRows";
import { trainConfigurations } from "@/solver/prediction/configurations";
import { heldOutConfigurations } from "@/solver/prediction/heldOut";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { workflowShape } from "@/solver/workflow/workflowShape";
import { embedPrompts } from "./embedPrompts";
import { sketchesOf, type Trained, type TrainingContext, type TrainingSummary } from "./trainingContext";

/** Modelled programs of each prompt: their mean is more precise than a single one. */
const PROGRAMS_A_PROMPT = 4;

/** Most prompts for training, and most outcomes, one for each of their configurations: limits by memory and minutes. */
const MOST_PROMPTS = 4000;
const MOST_OUTCOMES = 2 ** 23;

interface ConfigurationTask {
  readonly request: Extract<TrainRequest, { train: "configurations" }>;
  readonly workflow: WorkflowDocument;
}

/**
 * Trains heads for the configurations of a declared workflow on modelled outcomes of the planning prompts, and measures them on held-out
 * ones.
 *
 * @throws Error or RangeError, in a sentence, if the workload lacks answers of a model, or nothing can be learnt.
 */
export async function configurationsOf(
  { request, workflow }: ConfigurationTask,
  context: TrainingContext,
  summary: TrainingSummary,
): Promise<Trained> {
  const { workload, texts, split, tell } = context;
  const { outcomes, seed } = workload;
  const { models, correlation, misleads, encoderFolder } = request;
  const stranger = models.find((name) => !outcomes.models.some(({ model }) => model === name));
  if (stranger !== undefined) throw new Error(`${workload.name} has no answers of ${stranger}.`);
  const space = configurationSpace(workflow, models);
  const known = sketchesOf(outcomes.inputTokens, texts);
  const rowsOf = (prompts: Int32Array, part: string): ConfigurationRows => {
    const most = Math.max(1, Math.min(MOST_PROMPTS, Math.floor(MOST_OUTCOMES / space.size)));
    const step = Math.max(1, prompts.length / most);
    const some = prompts.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
    const sample = drawPrograms({
      ...{ outcomes, prompts: some, mix: [{ workflow: workflowOfDocument(workflow), share: 1 }], correlation, misleads },
      arrivalSeconds: new Float64Array(PROGRAMS_A_PROMPT * some.length),
      seed: mixSeed(seed, `configurations ${part}`),
    });
    return configurationRowsOf(sample, space, known, workflow);
  };
  tell(`Modelling outcomes of ${space.size} configurations`);
  const [rows, heldOut] = [rowsOf(split.planning, "train"), rowsOf(split.heldOut, "heldOut")];
  const programs = rows.programs.reduce((sum, count) => sum + count, 0);
  return trainedConfigurations({
    ...{ rows, heldOut, texts, encoderFolder, seed, tell },
    training: {
      ...summary,
      ...{ models, prompts: rows.prompts.length, workflows: [workflow.name], correlation, misleads },
      requests: programs * space.agents.length * models.length,
      source: "modelled outcomes",
    },
  });
}

/**
 * Heads trained on the rows, with their error on others, whose prompts are rows of the texts; with an encoder the heads read its
 * embeddings.
 */
export async function trainedConfigurations(given: {
  readonly rows: ConfigurationRows;
  readonly heldOut: ConfigurationRows;
  readonly texts: readonly (string | null)[] | null;
  readonly encoderFolder: string | undefined;
  readonly training: Omit<ArtefactTraining, "encoder" | "workflow">;
  readonly seed: number;
  readonly tell: (doing: string) => void;
}): Promise<Trained> {
  const { rows, heldOut, texts, encoderFolder, training, seed, tell } = given;
  const embedded = encoderFolder === undefined ? [] : await embedPrompts(encoderFolder, texts, [rows.prompts, heldOut.prompts], tell);
  const read = (of: ConfigurationRows, part: number): ConfigurationRows => {
    const embeddings = embedded[part];
    return embeddings === undefined ? of : { ...of, embeddings };
  };
  tell(`Learning ${rows.space.size - 1} heads of ${rows.prompts.length} prompts`);
  const artefact = trainConfigurations(read(rows, 0), { seed: mixSeed(seed, "configurations") });
  tell("Measuring on prompts it has not seen");
  return {
    kind: "configurations",
    training: { ...training, encoder: embedded[0]?.encoder ?? null, workflow: workflowShape(rows.workflow) },
    heldOut: heldOutConfigurations(artefact, read(heldOut, 1)),
    bytes: encodeArtefact(artefact),
  };
}
