import { z } from "zod";
import type { ObservedEngine, ObservedNode } from "@/server/clusters/connector/connector";
import { mostCommon } from "@/server/clusters/connector/obstacle";
import type { Look } from "@/server/clusters/connector/waitUntil";
import { engineRequestSchema } from "@/server/contracts/engine/emulatorAdmin";
import { type KubernetesConnection, knownGpuProducts } from "./connection";
import { engineLook } from "./engineLook";
import type { KubeLists } from "./kubeLists";
import type { KubeNode, KubePod } from "./kubeObjects";
import { isOfCluster, labels, labelValue, objectName, orderAnnotation } from "./names";
import { enginePort, gpuResource } from "./podTemplate";

interface PicturedNode extends ObservedNode {
  /** Why it takes no new engine, in words after its name; null if it does. */
  readonly closed: string | null;
  /** GPUs available for a new engine. */
  readonly freeGpus: number;
}

interface PicturedEngine extends ObservedEngine {
  /** Kubernetes' report on it while it does not answer itself. */
  readonly look: Look | null;
  /** Whether all of its pods have a node. */
  readonly placed: boolean;
  /** Uid of its Deployment or LeaderWorkerSet. */
  readonly uid: string;
}

export interface ClusterPicture {
  readonly gpu: string;
  readonly nodes: readonly PicturedNode[];
  readonly engines: readonly PicturedEngine[];
  /** Names of this cluster's Services. */
  readonly services: readonly string[];
  /** What could not be read, or is not as it should be, in sentences. */
  readonly notes: readonly string[];
}

/** Most pods of others that a note names on each node. */
const namedPods = 3;

const orderSchema = engineRequestSchema.extend({ precision: z.enum(["bf16", "fp8", "int4"]) });

/**
 * GPUs and engines from the lists of a cluster's objects. Nodes without GPUs are left out; if there are no others, the result is a
 * sentence.
 */
export function pictureOf(lists: KubeLists, connection: KubernetesConnection, clusterId: string): ClusterPicture | string {
  const notes: string[] = [];
  if (!lists.allPods)
    notes.push(`Pods of other namespaces than ${connection.namespace} may not be seen: GPUs that they use are counted as free.`);
  const engines = lists.running.flatMap((running): readonly PicturedEngine[] => {
    const order = readOrder(running.metadata.annotations[orderAnnotation]);
    if (order === null || objectName(order.id) !== running.metadata.name) {
      notes.push(`${running.metadata.name} has Weir's labels but no order of an engine that can be read: it is left alone.`);
      return [];
    }
    const pods = podsOf(order.id, lists.pods, clusterId);
    return [
      {
        ...{ id: order.id, model: order.model, gpu: order.gpu, tp: order.tp, pp: order.pp, placements: order.placements },
        url: urlOf(order, lists, connection),
        stopping: running.metadata.deletionTimestamp !== undefined,
        look: engineLook(running, pods),
        uid: running.metadata.uid,
        placed: pods.length >= order.placements.length && pods.every((pod) => pod.spec.nodeName !== undefined),
      },
    ];
  });
  const found = lists.nodes.flatMap((node) => {
    const gpus = Number(node.status.allocatable[gpuResource] ?? 0);
    return gpus > 0 ? [{ node, gpus, card: cardOf(node, connection) }] : [];
  });
  if (found.length === 0) return "No node of this cluster has an allocatable nvidia.com/gpu: is NVIDIA's device plugin installed?";
  const gpu = connection.gpu ?? mostCommon(found.map(({ card }) => card)) ?? "";
  const held = new Set(engines.map(({ id }) => labelValue(id)));
  const nodes = found.map(({ node, gpus, card }): PicturedNode => {
    const { name } = node.metadata;
    const onNode = lists.pods.filter((pod) => pod.spec.nodeName === name && !hasEnded(pod));
    const others = onNode.filter((pod) => !isOfCluster(pod, clusterId) || !held.has(pod.metadata.labels[labels.engine] ?? ""));
    const ours = engines
      .flatMap(({ placements }) => placements.filter((one) => one.node === name))
      .reduce((sum, one) => sum + one.gpus.length, 0);
    const closed = closedBecause(node);
    const othersGpus = closed === null ? others.reduce((sum, pod) => sum + gpusOf(pod), 0) : Math.max(0, gpus - ours);
    const ofType = card === gpu ? {} : { gpu: card };
    return { name, gpus, ...ofType, ...(othersGpus === 0 ? {} : { othersGpus }), closed, freeGpus: Math.max(0, gpus - ours - othersGpus) };
  });
  for (const { name, closed } of nodes) if (closed !== null) notes.push(`${name} ${closed}: it takes no new engines.`);
  notes.push(...othersNotes(nodes, lists.pods, (pod) => isOfCluster(pod, clusterId) && held.has(pod.metadata.labels[labels.engine] ?? "")));
  return { gpu, nodes, engines, services: lists.services.map(({ metadata }) => metadata.name), notes };
}

/** Notes on GPUs held by others than Weir's engines, node by node. */
function othersNotes(nodes: readonly PicturedNode[], pods: readonly KubePod[], isOwn: (pod: KubePod) => boolean): readonly string[] {
  return nodes.flatMap(({ name }) => {
    const others = pods.filter((pod) => pod.spec.nodeName === name && gpusOf(pod) > 0 && !isOwn(pod) && !hasEnded(pod));
    if (others.length === 0) return [];
    const gpus = others.reduce((sum, pod) => sum + gpusOf(pod), 0);
    const named = others.slice(0, namedPods).map(({ metadata }) => metadata.name);
    const more = others.length > namedPods ? ` and ${others.length - namedPods} more` : "";
    return [
      `${gpus} ${gpus === 1 ? "GPU" : "GPUs"} of ${name} ${gpus === 1 ? "is" : "are"} held by pods of others, which stay: ${named.join(", ")}${more}.`,
    ];
  });
}

const hasEnded = ({ status }: KubePod): boolean => ["Succeeded", "Failed"].includes(status.phase);

/** An engine's order from its object; null if it has none that can be read. */
export function readOrder(text: string | undefined): z.infer<typeof orderSchema> | null {
  try {
    return orderSchema.parse(JSON.parse(text ?? ""));
  } catch {
    return null;
  }
}

/** Pods of one engine, including ending ones. */
export const podsOf = (engineId: string, pods: readonly KubePod[], clusterId: string): readonly KubePod[] =>
  pods.filter((pod) => isOfCluster(pod, clusterId) && pod.metadata.labels[labels.engine] === labelValue(engineId));

/** GPUs that the scheduler has reserved for a pod: those of all its containers, or of an init container that requests more. */
function gpusOf({ spec }: KubePod): number {
  const asked = ({ resources }: { readonly resources: Readonly<Record<string, string | number>> }) => Number(resources[gpuResource] ?? 0);
  const together = spec.containers.reduce((sum, container) => sum + asked(container), 0);
  return Math.max(together, ...spec.initContainers.map(asked));
}

function cardOf({ metadata }: KubeNode, { gpuProducts, gpu }: KubernetesConnection): string {
  const product = metadata.labels["nvidia.com/gpu.product"];
  if (product === undefined) return gpu ?? "unknown";
  // The product name of a shared GPU has this suffix.
  const plain = product.replace(/-SHARED$/, "");
  return gpuProducts[product] ?? gpuProducts[plain] ?? knownGpuProducts[plain] ?? plain.toLowerCase();
}

function closedBecause({ spec, status }: KubeNode): string | null {
  if (spec.unschedulable) return "is cordoned";
  const ready = status.conditions.find((one) => one.type === "Ready");
  return ready?.status === "True" ? null : "is not ready";
}

function urlOf(order: z.infer<typeof orderSchema>, lists: KubeLists, { reach, namespace }: KubernetesConnection): string {
  const service = objectName(order.id);
  if (reach.by === "url") return reach.template.replaceAll("{service}", service).replaceAll("{namespace}", namespace);
  if (reach.by === "service") return `http://${service}.${namespace}.svc:${enginePort}`;
  const addresses = lists.nodes.find((node) => node.metadata.name === order.placements[0]?.node)?.status.addresses ?? [];
  const host = reach.host ?? addresses.find((one) => one.type === "InternalIP")?.address ?? order.placements[0]?.node;
  const port = lists.services.find((one) => one.metadata.name === service)?.spec.ports[0]?.nodePort;
  return port === undefined ? `http://${service}.${namespace}.svc:${enginePort}` : `http://${host}:${port}`;
}
