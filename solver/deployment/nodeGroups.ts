import { mayRunOn } from "../plan/constraints";
import type { DeploymentProblem } from "./problem";

/** Nodes of one GPU type with the same permitted models that need not be distinguished: replicas are counted over all of them. */
export interface NodeGroup {
  readonly gpu: string;
  /** Indices into the problem's nodes. */
  readonly nodes: readonly number[];
  /** Per stage, whether it may run here. */
  readonly allowed: readonly boolean[];
}

/**
 * The problem's nodes in as few groups as possible: identical nodes are interchangeable, and one count for all of them leaves no
 * symmetric solutions to search. Nodes for which `apart` is true are separate groups.
 */
export function nodeGroups({ nodes, stages, constraints }: DeploymentProblem, apart: (node: number) => boolean): readonly NodeGroup[] {
  const groups = new Map<string, { gpu: string; nodes: number[]; allowed: boolean[] }>();
  for (const [index, { name, gpu }] of nodes.entries()) {
    const allowed = stages.map(({ model }) => mayRunOn(constraints, model, name));
    const key = JSON.stringify([gpu, allowed, apart(index) ? index : null]);
    const group = groups.get(key) ?? { gpu, nodes: [], allowed };
    group.nodes.push(index);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** At most `slots` blocks of `size` GPUs, larger blocks counted by their multiples. */
export interface PackingLimit {
  readonly size: number;
  readonly slots: number;
}

/**
 * Conditions for blocks to fit into a group's nodes. On one node their sum decides. On several, with sizes that are powers of two: for
 * every size, the blocks at least as large, in units of it, fit into the units that the nodes hold. Placing the largest first then always
 * finds room, since the space that larger blocks leave on a node is a whole number of units plus the node's remainder. Limits implied by a
 * smaller size are left out.
 */
export function packingLimits(gpusPerNode: readonly number[], sizes: Iterable<number>): readonly PackingLimit[] {
  if (gpusPerNode.length === 1) return [{ size: 1, slots: gpusPerNode[0] ?? 0 }];
  const limits: PackingLimit[] = [];
  let held = Number.POSITIVE_INFINITY;
  for (const size of [...new Set(sizes)].sort((a, b) => a - b)) {
    const slots = gpusPerNode.reduce((sum, gpus) => sum + Math.floor(gpus / size), 0);
    if (slots * size === held) continue;
    held = slots * size;
    limits.push({ size, slots });
  }
  return limits;
}
