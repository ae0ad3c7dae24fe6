import { formatCount, formatCounted, shortHash } from "@/components/ui/format";
import type { DeclaredWorkflow, PlanSummary } from "@/server/contracts/studio";
import { configurationsText } from "./prepareDeclared";

const originWords: Readonly<Record<DeclaredWorkflow["origin"], string>> = {
  weir: "Weir document",
  dspy: "DSPy program",
  langgraph: "LangGraph graph",
};

export interface DeclaredListRow {
  readonly name: string;
  readonly title: string;
  readonly agents: string;
  readonly configurations: string;
  /** Why it has no configurations over these models; null: it has. */
  readonly refused: string | null;
  readonly version: string;
  readonly origin: string;
  readonly predictors: string;
}

/** Prepares the rows of the declared workflows. `models`: those of the plan that the counts are based on; null while it is not known. */
export function declaredRows(workflows: readonly DeclaredWorkflow[], models: readonly string[] | null): readonly DeclaredListRow[] {
  return workflows.map(({ document, version, origin, predictors }) => {
    const { text, refused } = models === null ? { text: "–", refused: null } : configurationsText(document, models);
    return {
      name: document.name,
      title: document.title,
      agents: formatCount(document.agents.length),
      ...{ configurations: text, refused },
      version: `v${version}`,
      origin: originWords[origin],
      predictors: predictors.length === 0 ? "none" : formatCounted(predictors.length, "predictor"),
    };
  });
}

/** The plan that the address names, else the one in force, else the newest; null: none. */
export function planInView(plans: readonly PlanSummary[], named: string | null): PlanSummary | null {
  return plans.find(({ id }) => id === named) ?? plans.find(({ running }) => running) ?? plans[0] ?? null;
}

/** Plans to choose from, the one in force first. */
export const planOptions = (plans: readonly PlanSummary[]) =>
  plans
    .toSorted((a, b) => Number(b.running) - Number(a.running))
    .map(({ id, name, running }) => ({ value: id, text: `${running ? "in force: " : ""}${name}, ${shortHash(id)}` }));

/** A workflow to run just in time, and its predictor; null: none. */
export interface ChosenWorkflow {
  readonly name: string;
  readonly predictor: string | null;
}

/** A workflow's predictors to choose from, newest first, and the choice of none. */
export const predictorOptions = ({ predictors }: Pick<DeclaredWorkflow, "predictors">) => [
  ...predictors.map(({ hash, version, workloadName }) => ({ value: hash, text: `v${version} of ${workloadName}, ${shortHash(hash)}` })),
  { value: "", text: "none: the largest models alone" },
];

/** The consequence of the selected predictors, in a sentence. */
export function chosenText(chosen: readonly ChosenWorkflow[]): string {
  const without = chosen.filter(({ predictor }) => predictor === null).map(({ name }) => name);
  if (chosen.length === 0) return "Choose at least one workflow.";
  if (without.length === 0) return "Accurate configurations are predicted for each program at its first request.";
  return `${without.join(", ")} without a predictor: only the largest models count as accurate, so rounds have no choice.`;
}
