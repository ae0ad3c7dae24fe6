import type { WorkflowAgent, WorkflowDocument } from "@/solver/plan/workflowDocument";

/** The configurations that a predictor tells of: those of a workflow over models, smallest first. */
export interface PredictedSpace {
  readonly workflow: WorkflowDocument;
  readonly models: readonly string[];
}

/**
 * What a predictor was trained for, where a policy that names it for `named` cannot go by what it says; null where it can. Ends a sentence
 * that begins with what the policy names it for.
 */
export function otherSpace(trained: PredictedSpace, named: PredictedSpace): string | null {
  const models = trained.models.join(", ");
  if (trained.workflow.name !== named.workflow.name) return `it is one for the workflow ${trained.workflow.name}`;
  if (models !== named.models.join(", ")) return `it is one over ${models}`;
  const agents = ({ workflow }: PredictedSpace): string => workflow.agents.map(({ name }) => name).join(", ");
  if (agents(trained) !== agents(named)) return `it is one for the agents ${agents(trained)}`;
  const other = trained.workflow.agents.find((agent, at) => shapeOf(agent) !== shapeOf(named.workflow.agents[at]));
  return other === undefined ? null : `when it was trained, ${other.name} read other agents or had other models to run on`;
}

/** What of an agent configurations and their accuracy depend on. */
function shapeOf(agent: WorkflowAgent | undefined): string {
  return JSON.stringify([agent?.reads.toSorted(), agent?.models?.toSorted() ?? null, agent?.sameModelAs ?? null]);
}
