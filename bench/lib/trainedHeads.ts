import { createHash } from "node:crypto";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { configurationRowsOf } from "@/solver/prediction/configurationRows";
import { type ConfigurationPredictor, configurationPredictor, trainConfigurations } from "@/solver/prediction/configurations";
import type { PromptTexts } from "@/solver/prediction/programFacts";
import { sketchOf } from "@/solver/words/sketch";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import type { Workflow } from "@/solver/workflow/workflow";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable } from "@/solver/workload/workload";

/** Settings of modelled outcomes: similarity of a program's stages, and how often a wrong answer misleads. */
export const MODELLED_OUTCOMES = { correlation: 0.5, misleads: 0.5 } as const;

/** Number of programs from which each workflow's heads are learnt, on prompts that are not sent. */
const TRAINING_PROGRAMS = 2000;

/** What heads are trained on. */
interface HeadsGround {
  /** Smallest model first. */
  readonly outcomes: OutcomeTable;
  /** By row of the table. */
  readonly texts: readonly (string | null)[];
  readonly seed: number;
}

/** A workflow's trained heads, and their name. */
interface TrainedHeads {
  readonly document: WorkflowDocument;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly hash: string;
  readonly predictor: ConfigurationPredictor;
}

/** Heads of each workflow, trained on programs of the planning prompts. */
export function trainedHeads(of: readonly Workflow[], { outcomes, texts, seed }: HeadsGround): readonly TrainedHeads[] {
  const models = outcomes.models.map(({ model }) => model);
  const { planning } = splitPrompts(outcomes.promptIds.length, seed);
  const promptTexts = promptTextsOf({ outcomes, texts });
  return of.map((workflow) => {
    const document = documentOfWorkflow(workflow);
    const programs = drawPrograms({
      ...{ ...MODELLED_OUTCOMES, outcomes, prompts: planning, mix: [{ workflow, share: 1 }], seed },
      arrivalSeconds: new Float64Array(TRAINING_PROGRAMS),
    });
    const rows = configurationRowsOf(programs, configurationSpace(document, models), promptTexts, document);
    const artefact = trainConfigurations(rows, { seed });
    const bytes = encodeArtefact(artefact);
    const hash = createHash("sha256").update(bytes).digest("hex");
    return { document, bytes, hash, predictor: configurationPredictor(artefact) };
  });
}

/** What is known of the prompts of the table. */
export const promptTextsOf = ({ outcomes, texts }: Pick<HeadsGround, "outcomes" | "texts">): PromptTexts => ({
  sketches: texts.map((text) => (text === null ? null : sketchOf(text))),
  promptTokens: outcomes.inputTokens,
});
