import { gpuCount } from "@/solver/plan/clusterGpus";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import { constraintsOf, mayRunOn, type NamedConstraint, type PlanConstraints } from "@/solver/plan/constraints";
import type { PlanDraft } from "@/solver/plan/plan";
import { replicaChange, runningReplicas } from "@/solver/plan/runningReplicas";

/**
 * The constraints that a plan violates, in operators' words, computed from its replicas alone: a check of the planner that shares no code
 * with it.
 *
 * @param running the deployment that runs while the plan is made.
 */
export function brokenConstraints(
  plan: Pick<PlanDraft, "deployment" | "inputs" | "predictions">,
  constraints: PlanConstraints,
  running: readonly RunningReplica[],
): readonly string[] {
  return constraintsOf(constraints)
    .filter((constraint) => !isKept(constraint, { plan, constraints, running }))
    .map(({ says }) => says);
}

interface Checked {
  readonly plan: Pick<PlanDraft, "deployment" | "inputs" | "predictions">;
  readonly constraints: PlanConstraints;
  readonly running: readonly RunningReplica[];
}

function isKept({ kind, model }: NamedConstraint, { plan, constraints, running }: Checked): boolean {
  const replicas = runningReplicas(plan);
  const of = (name: string | null): readonly RunningReplica[] => replicas.filter((replica) => replica.model === name);
  const gpus = plan.deployment.reduce((sum, own) => sum + own.gpus, 0);
  switch (kind) {
    case "pinned":
      return constraints.pinned.every((pin) => pin.model !== model || of(model).length >= pin.replicas);
    case "shapes":
      return of(model).every(({ shape }) =>
        constraints.shapes.every((wanted) => wanted.model !== model || (wanted.tp === shape.tp && wanted.pp === shape.pp)),
      );
    case "excluded":
      return of(model).length === 0;
    case "nodes":
      return of(model).every(({ placements }) => placements.every(({ node }) => mayRunOn(constraints, model ?? "", node)));
    case "minReplicasPerModel":
      return plan.deployment.every((own) => of(own.model).length >= (constraints.minReplicasPerModel ?? 0));
    case "surviveNodeLoss":
      return plan.predictions.stages.every(({ model: stage }) =>
        plan.inputs.cluster.nodes.every(({ name }) => of(stage).some(({ placements }) => placements.every(({ node }) => node !== name))),
      );
    case "maxUsdPerHour":
      return plan.predictions.costUsdPerHour <= (constraints.maxUsdPerHour ?? 0) + 1e-9;
    case "maxGpus":
      return gpus <= (constraints.maxGpus ?? 0);
    case "maxChangedReplicas": {
      const { started, stopped } = replicaChange(running, replicas);
      return started.length + stopped.length <= (constraints.maxChangedReplicas ?? 0);
    }
    case "idleGpus":
      return gpus === gpuCount(plan.inputs.cluster);
  }
}
