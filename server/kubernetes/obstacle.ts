import { gpuKeys } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { ClusterPicture } from "./clusterPicture";

/** Why an engine cannot be started on a cluster as it stands, in a sentence; null where nothing is in the way, or it is there already. */
export function obstacleTo(engine: EngineOrder, picture: ClusterPicture): string | null {
  const standing = picture.engines.find((one) => one.id === engine.id);
  if (standing?.stopping) return `${engine.id} is still ending.`;
  if (standing !== undefined) return null;
  for (const { node: name, gpus } of engine.placements) {
    const node = picture.nodes.find((one) => one.name === name);
    if (node === undefined) return `${name} is no node with GPUs of this cluster.`;
    if (node.closed !== null) return `${name} ${node.closed}: it takes no new engines.`;
    const found = node.gpu ?? picture.gpu;
    if (found !== engine.gpu) return `${engine.id} is planned for ${engine.gpu}; ${name} has ${found}.`;
    const holder = picture.engines.find((one) => gpuKeys(one).some((key) => gpus.some((gpu) => key === `${name}/${gpu}`)));
    if (holder !== undefined) return `${holder.id} holds GPUs of ${name} that ${engine.id} is to have.`;
    if (node.freeGpus < gpus.length)
      return `${engine.id} needs ${gpus.length} GPUs of ${name}, of whose ${node.gpus} ${node.freeGpus === 1 ? "1 is" : `${node.freeGpus} are`} free.`;
  }
  return null;
}
