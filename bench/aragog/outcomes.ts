import { mean } from "@/solver/numeric/quantile";
import { accurateSet, configurationQuality, type UpgradeViolations, upgradeViolations } from "@/solver/workflow/configurationOutcomes";
import { countOf } from "@/solver/workflow/configurationSet";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import type { OutcomeTable } from "@/solver/workload/workload";
import { workloadOf } from "../lib/compareData";

/** Models of one family that all answered the prompts of a task, three sizes or four. */
export const ladders = [
  { family: "Llama-3.1-Instruct", task: "gsm" },
  { family: "Llama-3.1-Instruct", task: "crux" },
  { family: "Gemma-2-it", task: "gsm" },
  { family: "Gemma-2-it", task: "crux" },
  { family: "Qwen2.5-Instruct", task: "crux" },
] as const;

/** Workflows of the source. */
export const sourceWorkflows = workflows.filter(({ name }) => ["self-refine", "text-to-sql", "voting", "decomposition"].includes(name));

/** Default settings of modelled outcomes: similarity of stages, and how often a wrong answer misleads. */
export const STATED = { correlation: 0.5, misleads: 0.5 } as const;

/** Figures of the configurations of one workflow over one ladder. */
export interface OutcomeFigures {
  readonly family: string;
  readonly task: string;
  readonly workflow: string;
  readonly configurations: number;
  /** Mean quality, 0..100, of the largest models throughout and of the smallest. */
  readonly largest: number;
  readonly smallest: number;
  /** Share of a program's configurations that are accurate, mean over programs, 0..1 (the source's Figure 3). */
  readonly accurate: number;
  readonly violations: UpgradeViolations;
}

/** Answers of a ladder to all its prompts. */
export const answersOf = async ({ family, task }: (typeof ladders)[number]): Promise<OutcomeTable> =>
  (await workloadOf({ family, tasks: [task], judgeAuc: 0.8 })).outcomes;

/** Figures of every workflow on a ladder's answers, over programs drawn from all its prompts by a seed. */
export function outcomeFigures(
  ladder: (typeof ladders)[number],
  outcomes: OutcomeTable,
  drawn: { readonly programs: number; readonly seed: number },
): readonly OutcomeFigures[] {
  return sourceWorkflows.map((workflow) => {
    const sample = drawPrograms({
      ...STATED,
      outcomes,
      prompts: Int32Array.from(outcomes.promptIds.keys()),
      mix: [{ workflow, share: 1 }],
      arrivalSeconds: new Float64Array(drawn.programs),
      seed: drawn.seed,
    });
    const space = configurationSpace(documentOfWorkflow(workflow), sample.models);
    const qualities = Array.from({ length: drawn.programs }, (_, program) => configurationQuality(sample, program, space));
    return {
      ...ladder,
      workflow: workflow.name,
      configurations: space.size,
      largest: mean(qualities.map((quality) => quality[space.size - 1] ?? Number.NaN)),
      smallest: mean(qualities.map((quality) => quality[0] ?? Number.NaN)),
      accurate: mean(qualities.map((quality) => countOf(accurateSet(quality)) / space.size)),
      violations: upgradeViolations(space, qualities),
    };
  });
}
