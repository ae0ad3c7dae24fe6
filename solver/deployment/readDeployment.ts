import type { DeploymentModel } from "./deploymentModel";
import type { DeploymentProblem, PlacedReplica } from "./problem";

/**
 * The replicas on named nodes and GPUs behind a solution of `deploymentModel`. Kept replicas stay on their GPUs; blocks of a group are
 * placed largest first, each on the fullest node that has room.
 *
 * @throws when blocks do not fit, which the model's rows rule out.
 */
export function readDeployment(
  { nodes, running, constraints }: DeploymentProblem,
  { groups, blocks, kept }: DeploymentModel,
  x: ArrayLike<number>,
): readonly PlacedReplica[] {
  const replicas: PlacedReplica[] = [];
  const free = nodes.map(({ gpus }) => Array.from({ length: gpus }, (_, gpu) => gpu));
  for (const { stage, option, running: alike, variable } of kept) {
    for (const index of alike.slice(0, Math.round(x[variable] ?? 0))) {
      const placements = running[index]?.placements ?? [];
      for (const { node, gpus } of placements) {
        const position = nodes.findIndex(({ name }) => name === node);
        free[position] = (free[position] ?? []).filter((gpu) => !gpus.includes(gpu));
      }
      replicas.push({ stage, option, placements, running: index });
    }
  }
  const left = free.map((gpus) => gpus.length);
  const placed = new Map(blocks.map(({ layout }) => [layout, [] as number[]]));
  for (const { layout, group, variable } of [...blocks].sort((a, b) => b.layout.blockGpus - a.layout.blockGpus)) {
    for (let count = Math.round(x[variable] ?? 0); count > 0; count -= 1) {
      const node = fullestWithRoom(groups[group]?.nodes ?? [], left, layout.blockGpus);
      if (node === null) throw new Error(`A block of ${layout.blockGpus} GPUs found no node`);
      left[node] = (left[node] ?? 0) - layout.blockGpus;
      placed.get(layout)?.push(node);
    }
  }
  for (const [layout, where] of placed) {
    where.sort((a, b) => a - b);
    const count = where.length / layout.blocks;
    for (let replica = 0; replica < count; replica += 1) {
      // Sorted, blocks on one node are adjacent: every count-th block is on a separate node, consecutive ones share nodes.
      const own = constraints.surviveNodeLoss
        ? Array.from({ length: layout.blocks }, (_, block) => where[block * count + replica] ?? 0)
        : where.slice(replica * layout.blocks, (replica + 1) * layout.blocks);
      const placements = [...new Set(own)].map((node) => ({
        node: nodes[node]?.name ?? "",
        gpus: free[node]?.splice(0, layout.blockGpus * own.filter((other) => other === node).length) ?? [],
      }));
      replicas.push({ stage: layout.stage, option: layout.option, placements, running: null });
    }
  }
  return replicas.sort((a, b) => a.stage - b.stage);
}

function fullestWithRoom(candidates: readonly number[], left: readonly number[], gpus: number): number | null {
  let found: number | null = null;
  for (const node of candidates) {
    const room = left[node] ?? 0;
    if (room >= gpus && (found === null || room < (left[found] ?? 0))) found = node;
  }
  return found;
}
