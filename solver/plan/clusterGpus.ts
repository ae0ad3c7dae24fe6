import type { ClusterSpec } from "./clusterSpec";

/** GPU type of a node. */
export const gpuOfNode = ({ gpu }: Pick<ClusterSpec, "gpu">, node: ClusterSpec["nodes"][number]): string => node.gpu ?? gpu;

/** GPU types of a cluster, its own first, each once; without those that no node has. */
export function gpuTypes(cluster: ClusterSpec): readonly string[] {
  const found = new Set(cluster.nodes.map((node) => gpuOfNode(cluster, node)));
  return [...found].sort((a, b) => Number(b === cluster.gpu) - Number(a === cluster.gpu));
}

/** GPUs of a cluster, or of one type in it. */
export const gpuCount = (cluster: ClusterSpec, type?: string): number =>
  cluster.nodes.reduce((sum, node) => sum + (type === undefined || gpuOfNode(cluster, node) === type ? node.gpus : 0), 0);

/** USD per GPU hour of every type that a cluster has. @throws when a type has no price. */
export function gpuPrices(cluster: ClusterSpec): Readonly<Record<string, number>> {
  return Object.fromEntries(
    gpuTypes(cluster).map((type) => {
      const price = type === cluster.gpu ? cluster.usdPerGpuHour : cluster.otherUsdPerGpuHour?.[type];
      if (price === undefined) throw new Error(`no price of the GPU ${type}`);
      return [type, price];
    }),
  );
}
