import type { z } from "zod";
import type { KubernetesConnection } from "./connection";
import type { KubeAnswer, KubeApi } from "./kubeApi";
import {
  type KubeNode,
  type KubePod,
  type KubeRunning,
  type KubeService,
  listOf,
  nodeSchema,
  podSchema,
  runningSchema,
  serviceSchema,
} from "./kubeObjects";
import { clusterSelector } from "./names";
import { collectionPath } from "./paths";

/** Everything that is read of a cluster for one look at it. */
export interface KubeLists {
  readonly nodes: readonly KubeNode[];
  readonly pods: readonly KubePod[];
  /** Whether `pods` are those of all namespaces. */
  readonly allPods: boolean;
  /** Deployments and LeaderWorkerSets of this cluster's engines. */
  readonly running: readonly KubeRunning[];
  readonly services: readonly KubeService[];
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number | undefined;
}

/** The API server's own tools read as many at once. */
const pageSize = 500;

/** Reads what a look needs, all at once. Where pods of other namespaces may not be seen, those of its own are all there are. */
export async function readLists(
  api: KubeApi,
  connection: Pick<KubernetesConnection, "namespace">,
  clusterId: string,
  options: ReadOptions,
): Promise<KubeAnswer<KubeLists>> {
  const list = <Item extends z.ZodType>(path: string, item: Item, query = "") => readAll(api, { path, item, query, options });
  const ours = `labelSelector=${encodeURIComponent(clusterSelector(clusterId))}`;
  const { namespace } = connection;
  const [nodes, everyPod, deployments, groups, services] = await Promise.all([
    list("api/v1/nodes", nodeSchema),
    list("api/v1/pods", podSchema),
    list(collectionPath("Deployment", namespace), runningSchema, ours),
    list(collectionPath("LeaderWorkerSet", namespace), runningSchema, ours),
    list(collectionPath("Service", namespace), serviceSchema, ours),
  ]);
  const denied = !everyPod.ok && everyPod.failure === "denied";
  const pods = denied ? await list(`api/v1/namespaces/${namespace}/pods`, podSchema) : everyPod;
  if (!nodes.ok) return nodes;
  if (!pods.ok) return pods;
  if (!deployments.ok) return deployments;
  if (!services.ok) return services;
  // Where the LeaderWorkerSet API is not installed there are none.
  if (!groups.ok && groups.failure !== "missing") return groups;
  const running = [...deployments.value, ...(groups.ok ? groups.value : [])];
  return { ok: true, value: { nodes: nodes.value, pods: pods.value, allPods: !denied, running, services: services.value } };
}

interface ListParts<Item> {
  readonly path: string;
  readonly item: Item;
  readonly query: string;
  readonly options: ReadOptions;
}

async function readAll<Item extends z.ZodType>(api: KubeApi, parts: ListParts<Item>): Promise<KubeAnswer<readonly z.infer<Item>[]>> {
  const found: z.infer<Item>[] = [];
  let next = "";
  do {
    const from = next === "" ? "" : `&continue=${encodeURIComponent(next)}`;
    const query = parts.query === "" ? "" : `${parts.query}&`;
    const page = await api({ path: `${parts.path}?${query}limit=${pageSize}${from}`, schema: listOf(parts.item), ...parts.options });
    if (!page.ok) return page;
    found.push(...(page.value.items as z.infer<Item>[]));
    next = page.value.metadata.continue ?? "";
  } while (next !== "");
  return { ok: true, value: found };
}
