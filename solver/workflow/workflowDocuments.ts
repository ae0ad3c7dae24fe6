import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import * as roles from "./roles";
import type { StagePart, Workflow, WorkflowStage } from "./workflow";

/** Names that identify a workflow's stages: their roles, numbered where several have the same ("voter-2"). */
export function agentNames(stages: readonly Pick<WorkflowStage, "role">[]): readonly string[] {
  return stages.map(({ role }, at) => {
    const same = stages.filter((other) => other.role === role).length;
    return same === 1 ? role : `${role}-${stages.slice(0, at + 1).filter((other) => other.role === role).length}`;
  });
}

/** A workflow of one shape as it would be declared: any model may run any agent. */
export function documentOfWorkflow({ name, title, stages }: Pick<Workflow, "name" | "title" | "stages">): WorkflowDocument {
  const names = agentNames(stages);
  return {
    apiVersion: "weir/v1",
    kind: "Workflow",
    name,
    title,
    agents: stages.map(({ part, reads, gate }, at) => ({
      name: names[at] ?? "",
      reads: reads.map((read) => names[read] ?? ""),
      part,
      instructions: "",
      // Drawn programs vote by letters.
      ...(gate && { skip: { extraction: { kind: "choice" as const }, ...gate } }),
    })),
  };
}

/** Assumed output and instruction lengths of a declared workflow's agent: those of the source's workflows, by its part. */
const typical: { readonly [part in StagePart]: Pick<WorkflowStage, "instructionTokens" | "lengthRatio" | "lengthSpread"> } = {
  helps: roles.planner,
  solves: roles.solver,
  checks: roles.verifier,
  revises: roles.revisingSolver,
  votes: roles.aggregator,
  joins: roles.joiner,
};

/** A declared workflow as programs of it are modelled: lengths are assumed by the part that each agent has. */
export function workflowOfDocument({ name, title, agents }: WorkflowDocument): Workflow {
  const names = agents.map((agent) => agent.name);
  return {
    name,
    title: title === "" ? name : title,
    stages: agents.map(({ name: role, part, reads, skip }): WorkflowStage => {
      const { instructionTokens, lengthRatio, lengthSpread } = typical[part];
      return {
        role,
        part,
        reads: reads.map((read) => names.indexOf(read)),
        instructionTokens,
        lengthRatio,
        lengthSpread,
        ...(skip && { gate: skip }),
      };
    }),
    source: "Declared here. Lengths are assumed by the part of each agent.",
  };
}
