import type { WorkflowDocument } from "@/solver/plan/workflowDocument";

/** A workflow without its agents' instructions and its description: its configurations, and how its agents read one another. */
export function workflowShape({ apiVersion, kind, name, agents }: WorkflowDocument): WorkflowDocument {
  return {
    apiVersion,
    kind,
    name,
    title: "",
    agents: agents.map((agent) => ({
      name: agent.name,
      reads: agent.reads,
      part: agent.part,
      ...(agent.models === undefined ? {} : { models: agent.models.toSorted() }),
      ...(agent.sameModelAs === undefined ? {} : { sameModelAs: agent.sameModelAs }),
      instructions: "",
    })),
  };
}

/** Whether two workflows of one name have the same agents, which read the same agents and may run on the same models. */
export const sameShape = (one: WorkflowDocument, other: WorkflowDocument): boolean =>
  JSON.stringify(workflowShape(one)) === JSON.stringify(workflowShape(other));
