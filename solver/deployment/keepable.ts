import { allowsReplica } from "../plan/constraints";
import type { DeploymentProblem, ReplicaOption } from "./problem";

/** Running replicas of one stage with the same shape and GPUs per node that may stay unchanged. */
export interface Keepable {
  readonly stage: number;
  readonly option: ReplicaOption;
  /** Indices into the problem's running replicas. */
  readonly running: readonly number[];
  /** GPUs of each such replica, by index of node. */
  readonly gpusByNode: ReadonlyMap<number, number>;
}

/** The running replicas that a plan may keep: of a stage's model, in a permitted shape, on existing and permitted nodes. */
export function keepable({ stages, nodes, running, constraints }: DeploymentProblem): readonly Keepable[] {
  const found = new Map<string, { stage: number; option: ReplicaOption; running: number[]; gpusByNode: Map<number, number> }>();
  for (const [index, replica] of running.entries()) {
    const { model, shape, placements } = replica;
    const stage = stages.findIndex((candidate) => candidate.model === model);
    const gpusByNode = new Map<number, number>();
    for (const { node, gpus } of placements) {
      const position = nodes.findIndex(({ name }) => name === node);
      gpusByNode.set(position, (gpusByNode.get(position) ?? 0) + gpus.length);
    }
    const places = [...gpusByNode.keys()].map((node) => nodes[node]);
    const option = stages[stage]?.options.find(
      ({ gpu, shape: { tp, pp } }) => tp === shape.tp && pp === shape.pp && places.every((node) => node?.gpu === gpu),
    );
    if (option === undefined || places.includes(undefined) || !allowsReplica(constraints, replica)) continue;
    const key = JSON.stringify([stage, shape, [...gpusByNode].sort(([a], [b]) => a - b)]);
    const alike = found.get(key) ?? { stage, option, running: [], gpusByNode };
    alike.running.push(index);
    found.set(key, alike);
  }
  return [...found.values()];
}
