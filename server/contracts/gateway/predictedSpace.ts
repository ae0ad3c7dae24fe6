import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { sameShape } from "@/solver/workflow/workflowShape";

/** The configurations that a predictor covers: those of a workflow over models, smallest first. */
export interface PredictedSpace {
  readonly workflow: WorkflowDocument;
  readonly models: readonly string[];
}

/**
 * What a predictor was trained for, if a policy that names it for `named` cannot use its predictions; null if it can. Ends a sentence that
 * begins with what the policy names it for.
 */
export function otherSpace(trained: PredictedSpace, named: PredictedSpace): string | null {
  const models = trained.models.join(", ");
  if (trained.workflow.name !== named.workflow.name) return `it is one for the workflow ${trained.workflow.name}`;
  if (models !== named.models.join(", ")) return `it is one over ${models}`;
  const agents = ({ workflow }: PredictedSpace): string => workflow.agents.map(({ name }) => name).join(", ");
  if (agents(trained) !== agents(named)) return `it is one for the agents ${agents(trained)}`;
  return sameShape(trained.workflow, named.workflow) ? null : "its agents read one another, or might run, otherwise when it was trained";
}
