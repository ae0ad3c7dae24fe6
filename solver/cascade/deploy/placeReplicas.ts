import type { ReplicaShape } from "@/solver/hardware/parallelism";
import type { Placement } from "@/solver/plan/clusterSpec";

export interface ReplicaToPlace {
  /** Returned with its placement. */
  readonly key: number;
  readonly shape: ReplicaShape;
}

/**
 * Assigns GPUs to every replica. Each of a replica's pp stages takes tp GPUs of one node; the stages of one pipeline may be on
 * several nodes and may share a node. Replicas with the largest tp go first, into the fullest node that still has room, which packs powers
 * of two into nodes of a multiple without loss.
 *
 * @returns per replica, in the order given, its GPUs by node; null when they do not fit, which is possible even if their sum fits.
 */
export function placeReplicas(
  replicas: readonly ReplicaToPlace[],
  nodes: readonly { readonly name: string; readonly gpus: number }[],
): readonly { readonly key: number; readonly placements: readonly Placement[] }[] | null {
  const free = nodes.map(({ gpus }) => Array.from({ length: gpus }, (_, gpu) => gpu));
  const taken = replicas.map(() => new Map<number, number[]>());
  const order = replicas.map((_, index) => index).sort((a, b) => size(replicas[b]) - size(replicas[a]));
  for (const index of order) {
    const shape = replicas[index]?.shape;
    if (shape === undefined) continue;
    const own = taken[index] ?? new Map<number, number[]>();
    for (let stage = 0; stage < shape.pp; stage += 1) {
      const node = fullestWithRoom(free, shape.tp, own);
      if (node === null) return null;
      own.set(node, [...(own.get(node) ?? []), ...(free[node]?.splice(0, shape.tp) ?? [])]);
    }
  }
  return replicas.map(({ key }, index) => ({
    key,
    placements: [...(taken[index] ?? [])].map(([node, gpus]) => ({ node: nodes[node]?.name ?? "", gpus })),
  }));
}

/** Sort key: tp first, since only tp GPUs must be on one node; longer pipelines go first among equals. */
const size = (replica: ReplicaToPlace | undefined): number => (replica === undefined ? 0 : replica.shape.tp * 1024 + replica.shape.pp);

function fullestWithRoom(free: readonly (readonly number[])[], gpus: number, own: ReadonlyMap<number, unknown>): number | null {
  let found: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [node, left] of free.entries()) {
    if (left.length < gpus) continue;
    // A node that already holds part of this pipeline comes first: sends inside a node are cheaper.
    const rank = own.has(node) ? -1 : left.length;
    if (rank < least) {
      least = rank;
      found = node;
    }
  }
  return found;
}
