import { activeParams } from "@/solver/hardware/architecture";
import { cardOf } from "@/solver/hardware/catalogue";
import { aragogSystems } from "@/solver/lab/aragogSystems";
import { type LabEngines, requestsOn } from "@/solver/lab/engineFigures";
import { perWorkflowConfiguration } from "@/solver/lab/perWorkflow";
import type { SuggestedSystem } from "@/solver/lab/suggestedSystems";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { justInTimeDocument } from "@/solver/policies/justInTime/justInTimeDocument";
import { withCallGates } from "@/solver/stageGates/gateCandidates";
import { configurationNames, configurationSpace, spaceRefusal } from "@/solver/workflow/configurationSpace";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { Workload } from "@/solver/workload/workload";
import type { LabHardware } from "./labEngines";

export interface AragogGround extends Pick<LabHardware, "catalogue"> {
  readonly engines: readonly LabEngines[];
  /** Programs of all the workflows: lengths of requests are read off it, and what per-workflow's configurations are worth. */
  readonly sample: ProgramSample;
  /** Those with more configurations over the models than a policy takes are left out. */
  readonly workflows: readonly WorkflowDocument[];
}

/** Which requests of the sample engines are profiled with. */
const PROFILE_SEED = 1;

/** Just-in-time choice over engines: models by active parameters, each with its curve of throughput. Heads are named by none of its workflows. */
export function justInTimeOver({ engines, sample, workflows, catalogue }: AragogGround): JustInTimePolicy {
  const document = justInTimeDocument({
    models: engines.map(({ model, replicas }) => {
      const requests = { ...requestsOn(sample, sample.models.indexOf(model)), seed: PROFILE_SEED };
      return { model, cost: costOf(model, catalogue), replica: replicas, requests };
    }),
    workflows: [],
    selection: { kind: "beam", width: 1 },
  });
  const models = document.models.map(({ model }) => model);
  return {
    ...document,
    workflows: workflows.filter((workflow) => spaceRefusal(workflow, models) === null).map((workflow) => ({ workflow })),
  };
}

/** Billions of parameters that a token passes. */
function costOf(model: string, catalogue: LabHardware["catalogue"]): number {
  const card = cardOf(catalogue.models, model);
  if (card === undefined) throw new Error(`There is no card of ${model}.`);
  return activeParams(card.architecture) / 1e9;
}

/**
 * What per-workflow optimisation gives every program of a policy's workflows, by the names of the workflows and of their agents.
 *
 * @param mostLoss points of 100 that it may lose in the mean against the largest models throughout; none as in the source.
 */
export function perWorkflow(
  { models, workflows }: JustInTimePolicy,
  sample: ProgramSample,
  mostLoss = 0,
): Record<string, Record<string, string>> {
  const costs = models.map(({ cost }) => cost);
  return Object.fromEntries(
    workflows.map(({ workflow }) => {
      const space = configurationSpace(
        workflow,
        models.map(({ model }) => model),
      );
      return [workflow.name, configurationNames(space, perWorkflowConfiguration(sample, workflow.name, space, { costs, mostLoss }))];
    }),
  );
}

/**
 * Aragog and what it is compared with on engines (`aragogSystems.ts`), and, where the workload has a column that a gate reads, Aragog with
 * scores of agents' answers; none where no workflow can be declared.
 */
export function aragogRace(ground: AragogGround, workload: Workload): readonly SuggestedSystem[] {
  const policy = justInTimeOver(ground);
  if (policy.workflows.length === 0) return [];
  const systems = aragogSystems((selection) => ({ ...policy, selection }), perWorkflow(policy, ground.sample));
  const scored = withCallGates(policy, { workload, sample: ground.sample });
  const learnt = systems.find(({ configurations }) => configurations === "learnt");
  if (!scored.ok || learnt?.policy.kind !== "just-in-time") return systems;
  const { selection } = learnt.policy;
  const about = "The same, with the score of every answer by its log probabilities: it changes which configurations count as accurate.";
  return [...systems, { ...learnt, name: `${learnt.name}, scores of answers`, policy: { ...scored.policy, selection }, about }];
}
