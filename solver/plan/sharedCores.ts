import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";
import { gpuOfNode } from "./clusterGpus";
import type { ClusterSpec } from "./clusterSpec";
import type { ModelDeployment } from "./plan";

/** A host without a core apart from those that its engines compute on. */
export interface CrowdedHost {
  readonly node: string;
  readonly engines: number;
  readonly cores: number;
}

/**
 * Hosts whose engines compute on every core that the cluster has of them. Two engines or more then share cores with one another's HTTP
 * servers, with the gateway and with clients; a single engine on a single core shares it with them too.
 */
export function crowdedHosts(
  cluster: Pick<ClusterSpec, "gpu" | "nodes">,
  deployment: readonly Pick<ModelDeployment, "replicas">[],
): readonly CrowdedHost[] {
  const placed = deployment.flatMap(({ replicas }) => replicas.flatMap(({ placements }) => placements));
  return cluster.nodes.flatMap((node) => {
    if (gpuOfNode(cluster, node) !== PROCESSOR_CARD) return [];
    const own = placed.map((replica) => replica.filter((part) => part.node === node.name)).filter((parts) => parts.length > 0);
    const cores = new Set(own.flatMap((parts) => parts.flatMap(({ gpus }) => gpus)));
    return cores.size < node.gpus ? [] : [{ node: node.name, engines: own.length, cores: node.gpus }];
  });
}

/** The warning to read before such a plan's figures are trusted. */
export function crowdedHostText({ node, engines, cores }: CrowdedHost): string {
  const [who, take] = engines === 1 ? ["The engine", "computes"] : [`${engines} engines`, "compute"];
  const all = cores === 1 ? "its only core" : `all ${cores} cores`;
  return `${who} on ${node} ${take} on ${all}: HTTP servers, gateway and clients share them, which the predicted times leave out. Engines that poll, as vLLM does, starve the others: pin each engine to its cores, give it idle priority, or leave a core free.`;
}
