import { mixSeed } from "@/solver/numeric/random";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { type ConfigurationRows, configurationRowsOf } from "@/solver/prediction/configurationRows";
import { type ConfigurationArtefact, trainConfigurations } from "@/solver/prediction/configurations";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { documentOfWorkflow, workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable } from "@/solver/workload/workload";
import { type ladders, STATED, sourceWorkflows } from "../aragog/outcomes";
import { promptsOf } from "../prediction/trained";

/** Models of a ladder that agents may have, smallest first. */
const SIZES = 3;

/** Number of modelled programs of each training prompt, and of each held-out prompt. */
const PROGRAMS_A_PROMPT = 4;

/** The source's workflows in declared form. */
export const documents: readonly WorkflowDocument[] = sourceWorkflows.map(documentOfWorkflow);

/** 3^8 configurations: an answer that is checked and revised three times, and checked at the end. */
export const chainOfEight: WorkflowDocument = workflowDocumentSchema.parse({
  name: "chain-of-eight",
  agents: ["solves", "checks", "revises", "checks", "revises", "checks", "revises", "checks"].map((part, at) => ({
    ...{ name: `agent-${at + 1}`, part },
    reads: [at - 1, at].filter((before) => before > 0).map((before) => `agent-${before}`),
  })),
});

export type LadderName = (typeof ladders)[number];

/** Training and test data for the heads of one workflow over one ladder. */
export interface HeadCase {
  readonly ladder: LadderName;
  readonly document: WorkflowDocument;
  readonly learnt: ConfigurationRows;
  readonly left: ConfigurationRows;
  readonly artefact: ConfigurationArtefact;
  readonly trainingSeconds: number;
}

const read = new Map<LadderName, ReturnType<typeof promptsOf>>();

async function promptsOfLadder(ladder: LadderName): ReturnType<typeof promptsOf> {
  const known = read.get(ladder) ?? promptsOf({ ...ladder, replicas: [] });
  read.set(ladder, known);
  const { outcomes, ...others } = await known;
  return { ...others, outcomes: { ...outcomes, models: outcomes.models.slice(0, SIZES) } };
}

/** Modelled outcomes of a ladder's prompts for a workflow, in two parts as plans and trainings split them by a seed. */
export interface SplitRows {
  /** Of 70 % of the prompts. */
  readonly learnt: ConfigurationRows;
  readonly left: ConfigurationRows;
  readonly outcomes: OutcomeTable;
  /** Texts of the prompts, by row of the outcomes. */
  readonly words: readonly string[];
}

/** Outcomes to learn heads from, and others to measure them on. */
export async function splitRows(ladder: LadderName, document: WorkflowDocument, seed: number): Promise<SplitRows> {
  const { outcomes, texts, words } = await promptsOfLadder(ladder);
  const { planning, heldOut } = splitPrompts(outcomes.promptIds.length, seed);
  const space = configurationSpace(
    document,
    outcomes.models.map(({ model }) => model),
  );
  // The source's version of the workflow, if there is one: its agents' lengths do not count here.
  const mix = [{ workflow: workflowOfDocument(document), share: 1 }];
  const rowsOf = (prompts: Int32Array, part: string): ConfigurationRows => {
    const arrivalSeconds = new Float64Array(PROGRAMS_A_PROMPT * prompts.length);
    return configurationRowsOf(
      drawPrograms({ ...STATED, outcomes, prompts, mix, arrivalSeconds, seed: mixSeed(seed, part) }),
      space,
      texts,
      document,
    );
  };
  return { learnt: rowsOf(planning, "learnt"), left: rowsOf(heldOut, "left"), outcomes, words };
}

/** Heads learnt from the words of 70 % of a ladder's prompts, and the rest. */
export async function headCase(ladder: LadderName, document: WorkflowDocument, seed: number): Promise<HeadCase> {
  const { learnt, left } = await splitRows(ladder, document, seed);
  const before = process.cpuUsage();
  const artefact = trainConfigurations(learnt, { seed });
  const { user, system } = process.cpuUsage(before);
  return { ladder, document, learnt, left, artefact, trainingSeconds: (user + system) / 1e6 };
}
