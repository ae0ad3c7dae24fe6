import type { EngineFrame } from "@/server/contracts/studio";
import { gpuOfNode } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";

type Holder = Pick<EngineFrame, "gpus">;

/**
 * The cost of the GPUs that some engines hold, USD per hour, each at the price of its node's type. A GPU counts once: if several engines
 * share it, each of `among` pays an equal part of it, so that the costs of models sum to that of all engines.
 *
 * @param among all engines of the cluster, `held` among them.
 * @returns null without engines, if one does not report where it runs, or if a price is not known. A price must not be 0, so 0 counts as
 * unknown.
 */
export function heldUsdPerHour(held: readonly Holder[], among: readonly Holder[], cluster: ClusterSpec): number | null {
  if (held.length === 0 || held.some(({ gpus }) => gpus.length === 0)) return null;
  const holders = new Map<string, number>();
  for (const { gpus } of among) for (const gpu of gpus) holders.set(keyOf(gpu), (holders.get(keyOf(gpu)) ?? 0) + 1);
  let sum = 0;
  for (const gpu of held.flatMap(({ gpus }) => gpus)) {
    const node = cluster.nodes.find(({ name }) => name === gpu.node);
    const price = node === undefined ? undefined : priceOf(gpuOfNode(cluster, node), cluster);
    if (!price) return null;
    sum += price / (holders.get(keyOf(gpu)) ?? 1);
  }
  return sum;
}

const keyOf = ({ node, index }: Holder["gpus"][number]): string => `${node}/${index}`;

const priceOf = (type: string, { gpu, usdPerGpuHour, otherUsdPerGpuHour }: ClusterSpec): number | undefined =>
  type === gpu ? usdPerGpuHour : otherUsdPerGpuHour?.[type];
