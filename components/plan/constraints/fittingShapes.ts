import type { Outputs } from "@/components/api/trpc";
import type { ReplicaShape } from "@/solver/hardware/parallelism";
import { feasibleShapes } from "@/solver/hardware/replicaShapes";
import { gpuCount, gpuOfNode, gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";

/** Shapes in which a replica of a model fits on GPUs of any one type of a cluster, each once; empty while the cards are being read. */
export function fittingShapes(
  model: string,
  cluster: ClusterSpec,
  cards: Pick<Outputs["cards"]["list"], "models" | "gpus"> | undefined,
): readonly ReplicaShape[] {
  const card = cards?.models.find(({ id }) => id === model);
  if (cards === undefined || card === undefined) return [];
  const shapes = gpuTypes(cluster).flatMap((type) => {
    const gpu = cards.gpus.find(({ id }) => id === type);
    const nodes = cluster.nodes.filter((node) => gpuOfNode(cluster, node) === type);
    const gpusPerNode = Math.max(...nodes.map((node) => node.gpus));
    return gpu === undefined ? [] : feasibleShapes(card, gpu, { gpusPerNode, maxGpus: gpuCount(cluster, type) });
  });
  const byKey = new Map(shapes.map((shape) => [`${shape.tp}x${shape.pp}`, shape]));
  return [...byKey.values()].sort((a, b) => a.tp * a.pp - b.tp * b.pp || a.pp - b.pp);
}
