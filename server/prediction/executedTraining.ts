import type { TrainRequest } from "@/server/contracts/gateway/artefacts";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { executedRows, type RunLine } from "@/solver/prediction/executedRows";
import { trainedConfigurations } from "./configurationTraining";
import { runLines } from "./runLines";
import type { Trained } from "./trainingContext";

/** The training task on executed runs, which come in a file within the browser's size limit. */
export interface ExecutedTask {
  readonly request: Extract<TrainRequest, { train: "executed" }>;
  readonly workflow: WorkflowDocument;
  readonly runs: { readonly path: string; readonly name: string };
}

/** The held-out inputs depend on their texts; this seed is for the folds. */
const SEED = 1;

/**
 * Trains heads for the configurations of a declared workflow on executed and graded runs, and measures them on held-out inputs. The same
 * file and release give the same bytes.
 *
 * @throws Error or RangeError, in a sentence, if there are too few runs, or an encoder cannot be used; the errors of reading the file.
 */
export async function trainOnRuns({ request, workflow, runs: file }: ExecutedTask, tell: (doing: string) => void): Promise<Trained> {
  const { models, encoderFolder } = request;
  tell(`Reading ${file.name}`);
  const lines: RunLine[] = [];
  for await (const line of runLines(file.path)) lines.push(line);
  const { rows, heldOut, inputs, runs, leftOut } = executedRows(lines, workflow, models);
  return trainedConfigurations({
    ...{ rows, heldOut, texts: inputs, encoderFolder, seed: SEED, tell },
    training: {
      ...{ workloadId: `executed ${workflow.name}`, workloadName: file.name, models, prompts: rows.prompts.length },
      ...{ workflows: [workflow.name], correlation: null, texts: true, emulated: false },
      requests: runs * rows.space.agents.length,
      source: "executed runs",
      leftOutRuns: leftOut,
    },
  });
}
