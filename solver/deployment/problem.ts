import type { LoadCurve } from "../engine/loadCurve";
import type { ReplicaShape } from "../hardware/parallelism";
import type { MilpEngine } from "../milp/engine";
import type { Placement, RunningReplica } from "../plan/clusterSpec";
import type { PlanConstraints } from "../plan/constraints";

/** One way to run a replica of a stage's model: its GPU type, its shape, and the rate that it sustains within a latency. */
export interface ReplicaOption {
  readonly gpu: string;
  readonly shape: ReplicaShape;
  readonly curve: LoadCurve;
}

/** One stage of a cascade whose routing is fixed. */
export interface DeploymentStage {
  readonly model: string;
  /** 0 for a model that is kept without load. */
  readonly requestsPerSecond: number;
  readonly options: readonly ReplicaOption[];
  /** Weight of its latency where the largest is minimised or limited; left out: 1. */
  readonly latencyWeight?: number;
}

export interface DeploymentNode {
  readonly name: string;
  /** GPU type. */
  readonly gpu: string;
  readonly gpus: number;
}

/**
 * `latency` minimises the largest weighted latency of a stage (Cascadia, section 3.2, whose weights are 1); among equals the fewest changed
 * replicas, then the lowest cost, then the fewest GPUs. `cost` minimises USD/hour with every stage within `stageLimitSeconds`; among equals
 * the fewest changed replicas, then the fewest GPUs.
 */
type DeploymentObjective = { readonly kind: "latency" } | { readonly kind: "cost"; readonly stageLimitSeconds: number };

/** The placement of each stage's replicas on nodes. Tensor parallelism never crosses a node; a pipeline crosses nodes of one GPU type. */
export interface DeploymentProblem {
  readonly stages: readonly DeploymentStage[];
  readonly nodes: readonly DeploymentNode[];
  /** By GPU type. */
  readonly usdPerGpuHour: Readonly<Record<string, number>>;
  readonly running: readonly RunningReplica[];
  readonly constraints: PlanConstraints;
  readonly objective: DeploymentObjective;
}

/** The MILP engine, its total time limit, and a clock, which the solver does not have. */
export interface Solving {
  readonly engine: MilpEngine;
  readonly timeLimitSeconds: number;
  nowSeconds(): number;
}

/** One replica of a solution. */
export interface PlacedReplica {
  readonly stage: number;
  readonly option: ReplicaOption;
  readonly placements: readonly Placement[];
  /** Index into `running` of the replica that stays unchanged; null for one to start. */
  readonly running: number | null;
}

const powerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

/** The error in a problem, in one sentence; null when there is none. */
export function problemRefusal({ stages, nodes, usdPerGpuHour, constraints, objective }: DeploymentProblem): string | null {
  const names = new Set(nodes.map(({ name }) => name));
  if (names.size < nodes.length) return "Two nodes have the same name.";
  if (new Set(stages.map(({ model }) => model)).size < stages.length) return "A model is in two stages.";
  const free = nodes.find(({ gpu }) => !((usdPerGpuHour[gpu] ?? -1) >= 0));
  if (free !== undefined) return `There is no price for GPU type ${free.gpu}.`;
  const unknown = constraints.nodes.flatMap(({ only, never }) => [...(only ?? []), ...never]).find((name) => !names.has(name));
  if (unknown !== undefined) return `A constraint names node ${unknown}, which the cluster does not have.`;
  for (const { model, requestsPerSecond, options, latencyWeight = 1 } of stages) {
    if (!(latencyWeight > 0 && latencyWeight < Number.POSITIVE_INFINITY))
      return `The weight of ${model}'s latency is not a positive number.`;
    if (!(requestsPerSecond >= 0 && requestsPerSecond < Number.POSITIVE_INFINITY)) return `${model} has no finite load.`;
    const odd = options.find(({ shape }) => !powerOfTwo(shape.tp) || !powerOfTwo(shape.pp));
    if (odd !== undefined) return `${model} has a shape of tp ${odd.shape.tp} x pp ${odd.shape.pp}, which are not both powers of two.`;
  }
  if (objective.kind === "cost" && !(objective.stageLimitSeconds > 0)) return "The latency limit is not a positive number of seconds.";
  return null;
}
