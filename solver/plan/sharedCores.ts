import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";
import { gpuOfNode } from "./clusterGpus";
import type { ClusterSpec } from "./clusterSpec";
import type { ModelDeployment } from "./plan";

/** A host without a core apart from those that its engines, and programs beside them, may compute on. */
export interface CrowdedHost {
  readonly node: string;
  readonly engines: number;
  /** Programs beside the engines, such as a judge. */
  readonly programs: number;
  readonly cores: number;
}

/**
 * Hosts whose engines, and programs beside them with a core each, take every core that the cluster has of them. They then share cores with
 * one another's HTTP servers, with the gateway and with clients; a single engine on a single core shares it with them too. Nodes of a cluster
 * that is only described have cores if their card is that of a core.
 */
export function crowdedHosts(
  cluster: Pick<ClusterSpec, "gpu" | "nodes">,
  deployment: readonly Pick<ModelDeployment, "replicas">[],
): readonly CrowdedHost[] {
  const placed = deployment.flatMap(({ replicas }) => replicas.flatMap(({ placements }) => placements));
  return cluster.nodes.flatMap((node) => {
    const { name, gpus: ofHost, processor = gpuOfNode(cluster, node) === PROCESSOR_CARD ? { programs: 0 } : undefined } = node;
    if (processor === undefined) return [];
    const own = placed.map((replica) => replica.filter((part) => part.node === name)).filter((parts) => parts.length > 0);
    const cores = new Set(own.flatMap((parts) => parts.flatMap(({ gpus }) => gpus)));
    const isCrowded = own.length > 0 && cores.size + processor.programs >= ofHost;
    return isCrowded ? [{ node: name, engines: own.length, programs: processor.programs, cores: ofHost }] : [];
  });
}

/** The warning to read before such a plan's figures are trusted. */
export function crowdedHostText({ node, engines, programs, cores }: CrowdedHost): string {
  const beside = programs === 0 ? "" : ` and ${counted(programs, "program")} beside ${engines === 1 ? "it" : "them"}`;
  const all = cores === 1 ? "its only core" : `all ${cores} cores`;
  const take = engines === 1 && programs === 0 ? "takes" : "take";
  return `${counted(engines, "engine")}${beside} on ${node} ${take} ${all}: HTTP servers, gateway and clients share them, which the predicted times leave out. Engines that poll, as vLLM does, starve the others: pin each engine to its cores, give it idle priority, or leave a core free.`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
