import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { gpuKeys } from "../steps/targetEngines";
import type { ObservedEngine, ObservedNode } from "./connector";

/** Nodes and engines of a cluster whose scheduler chooses the GPUs of a node. */
interface Picture {
  readonly gpu: string;
  readonly nodes: readonly (ObservedNode & { readonly freeGpus: number })[];
  readonly engines: readonly ObservedEngine[];
}

/**
 * Why an engine cannot be placed on a cluster in its present state, in a sentence; null if there is no obstacle, or it already runs there.
 *
 * @param cluster the name of the cluster in a sentence: "cluster", "Ray cluster".
 */
export function obstacleTo(engine: EngineOrder, { gpu, nodes, engines }: Picture, cluster: string): string | null {
  if (engines.some(({ id }) => id === engine.id)) return null;
  for (const { node: name, gpus } of engine.placements) {
    const node = nodes.find((one) => one.name === name);
    if (node === undefined) return `${name} is no node with GPUs of this ${cluster}.`;
    if (node.closed != null) return `${name} ${node.closed}: it takes no new engines.`;
    const found = node.gpu ?? gpu;
    if (found !== engine.gpu) return `${engine.id} is planned for ${engine.gpu}; ${name} has ${found}.`;
    const holder = engines.find((one) => gpuKeys(one).some((key) => gpus.some((index) => key === `${name}/${index}`)));
    if (holder !== undefined) return `${holder.id} holds GPUs of ${name} that ${engine.id} is to have.`;
    if (node.freeGpus < gpus.length)
      return `${engine.id} needs ${gpus.length} GPUs of ${name}, of whose ${node.gpus} ${node.freeGpus === 1 ? "1 is" : `${node.freeGpus} are`} free.`;
  }
  return null;
}

/** The same without Weir's own engines, which are no obstacle: the roll-out stops those that occupy the GPUs first. */
export function foreignObstacle(engine: EngineOrder, { gpu, nodes }: Picture, cluster: string): string | null {
  const alone = nodes.map((node) => ({ ...node, freeGpus: Math.max(0, node.gpus - (node.othersGpus ?? 0)) }));
  return obstacleTo(engine, { gpu, nodes: alone, engines: [] }, cluster);
}

/** The most frequent value; the first of several, undefined if there is none. */
export function mostCommon(values: readonly string[]): string | undefined {
  const count = (value: string): number => values.filter((one) => one === value).length;
  return [...values].sort((a, b) => count(b) - count(a))[0];
}
