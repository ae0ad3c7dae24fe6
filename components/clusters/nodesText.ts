import { gpuOfNode } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";

/**
 * Nodes of a cluster in words, runs of neighbours that are alike in one.
 *
 * @example four nodes of eight GPUs: `node1 to node4: 8 each`; with a smaller one of another type: `node1: 8, node2: 4 l40s`
 */
export function nodesText(cluster: ClusterSpec): string {
  const runs: { first: string; last: string; gpus: number; gpu: string }[] = [];
  for (const node of cluster.nodes) {
    const gpu = gpuOfNode(cluster, node);
    const run = runs.at(-1);
    if (run?.gpus === node.gpus && run.gpu === gpu) run.last = node.name;
    else runs.push({ first: node.name, last: node.name, gpus: node.gpus, gpu });
  }
  return runs
    .map(({ first, last, gpus, gpu }) => {
      const type = gpu === cluster.gpu ? "" : ` ${gpu}`;
      return first === last ? `${first}: ${gpus}${type}` : `${first} to ${last}: ${gpus}${type} each`;
    })
    .join(", ");
}
