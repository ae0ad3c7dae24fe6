import { type DeploymentModel, deploymentModel } from "../deployment/deploymentModel";
import { type Expression, rowOf, scaled, sumOf, variableOf } from "../deployment/expression";
import type { DeploymentProblem, PlacedReplica, ReplicaOption } from "../deployment/problem";
import { capacityOf, type MixProblem } from "./problem";

/** The integers of a mix: replicas on nodes, and their number by model and shape. */
export interface MixReplicas {
  readonly problem: DeploymentProblem;
  readonly deployment: DeploymentModel;
  /** By model, then by shape. */
  readonly counts: readonly (readonly Expression[])[];
  /** By model, at least the capacity that any one node has of it, in work a second; null where no node is to be lost. */
  readonly lost: readonly Expression[] | null;
}

/** Replicas that the cluster has room for under the constraints. No curve of latencies is read: stages have no rate of their own. */
export function mixReplicas({ models, nodes, usdPerGpuHour, constraints, running }: MixProblem): MixReplicas {
  const unloaded = { rates: new Float64Array(), seconds: new Float64Array(), saturationRequestsPerSecond: 0 };
  const options = models.map(({ shapes }) => shapes.map(({ gpu, shape }): ReplicaOption => ({ gpu, shape, curve: unloaded })));
  const { minReplicasPerModel, surviveNodeLoss } = constraints;
  const keep = constraints.maxChangedReplicas !== null;
  const problem: DeploymentProblem = {
    ...{ nodes, usdPerGpuHour, running: keep ? running : [], objective: { kind: "latency" } },
    // A mix may leave models out.
    constraints: { ...constraints, minReplicasPerModel: null },
    stages: models.map(({ model }, at) => ({ model, requestsPerSecond: 0, options: options[at] ?? [] })),
  };
  const { milp, ...deployment } = deploymentModel(problem, { limitSeconds: Number.POSITIVE_INFINITY, load: 1, keep });
  const layouts = [...new Set(deployment.blocks.map(({ layout }) => layout))];
  const counts = options.map((own) =>
    own.map((option) =>
      sumOf([
        ...layouts.filter((layout) => layout.option === option).map(({ replicas }) => replicas),
        ...deployment.kept.filter((column) => column.option === option).map(({ variable }) => variableOf(variable)),
      ]),
    ),
  );
  const variables = [...milp.variables];
  const rows = [...milp.rows];
  const most = nodes.reduce((sum, { gpus }) => sum + gpus, 0);
  if (minReplicasPerModel !== null)
    for (const [model, replicas] of deployment.replicas.entries()) {
      const has = variableOf(variables.push({ name: `has_${model}`, lower: 0, upper: 1, cost: 0, integer: true }) - 1);
      rows.push(rowOf(`least_of_${model}`, sumOf([replicas, scaled(has, -minReplicasPerModel)]), ">=", 0));
      rows.push(rowOf(`none_of_${model}`, sumOf([replicas, scaled(has, -most)]), "<=", 0));
    }
  const capacities = new Map(
    models.flatMap(({ shapes }, model) => shapes.map((shape, at) => [options[model]?.[at], capacityOf(shape)] as const)),
  );
  const capacity = ({ option }: { readonly option: ReplicaOption }): number => capacities.get(option) ?? 0;
  const lost = !surviveNodeLoss
    ? null
    : models.map((_, model) => {
        const own = variableOf(
          variables.push({ name: `lost_of_${model}`, lower: 0, upper: Number.POSITIVE_INFINITY, cost: 0, integer: false }) - 1,
        );
        for (const [group, { nodes: members }] of deployment.groups.entries()) {
          const here = [
            ...deployment.blocks
              .filter((block) => block.group === group && block.layout.stage === model)
              .map(({ layout, variable }) => scaled(variableOf(variable), capacity(layout))),
            ...deployment.kept
              .filter((column) => column.stage === model && column.gpusByNode.has(members[0] ?? -1))
              .map((column) => scaled(variableOf(column.variable), capacity(column))),
          ];
          if (here.length > 0) rows.push(rowOf(`lost_of_${model}_${group}`, sumOf([...here, scaled(own, -1)]), "<=", 0));
        }
        return own;
      });
  return { problem, deployment: { ...deployment, milp: { ...milp, variables, rows } }, counts, lost };
}

/** By model, the capacity of placed replicas in work a second; where a node may be lost, without those of the node that has most of it. */
export function capacitiesOf(
  { models, nodes, constraints }: MixProblem,
  placed: readonly PlacedReplica[],
): readonly { readonly all: number; readonly left: number }[] {
  return models.map(({ shapes }, model) => {
    const own = placed.filter(({ stage }) => stage === model);
    const capacity = ({ option }: PlacedReplica): number => {
      const shape = shapes.find((one) => one.gpu === option.gpu && one.shape === option.shape);
      return shape === undefined ? 0 : capacityOf(shape);
    };
    const all = own.reduce((sum, replica) => sum + capacity(replica), 0);
    if (!constraints.surviveNodeLoss) return { all, left: all };
    const on = nodes.map(({ name }) =>
      own.reduce((sum, replica) => sum + (replica.placements.some(({ node }) => node === name) ? capacity(replica) : 0), 0),
    );
    return { all, left: all - Math.max(0, ...on) };
  });
}
