import type { z } from "zod";
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
import { clusterSelector, isOfCluster } from "./names";
import { collectionPath } from "./paths";

/** Everything that is read of a cluster for one observation. */
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
  /** Whether nodes and pods of other namespaces must be current. */
  readonly fresh?: boolean;
}

/** The page size of the API server's own tools. */
const pageSize = 500;

/** All nodes and pods of a large cluster are megabytes, and a cluster is observed every second. */
const foreignMs = 15_000;

export type KubeReader = (options: ReadOptions) => Promise<KubeAnswer<KubeLists>>;

/**
 * Reads the lists for an observation, all at once; nodes and pods of other namespaces may be up to 15 s old, unless they must be current.
 * If pods of other namespaces are not readable, only those of its own are returned.
 */
export function createKubeReader(api: KubeApi, namespace: string, clusterId: string): KubeReader {
  const ours = `labelSelector=${encodeURIComponent(clusterSelector(clusterId))}`;
  const ownPods = `api/v1/namespaces/${namespace}/pods`;
  let foreign: (Pick<KubeLists, "nodes" | "pods" | "allPods"> & { readonly readAt: number }) | null = null;

  async function readForeign(options: ReadOptions): Promise<KubeAnswer<NonNullable<typeof foreign>>> {
    if (foreign !== null && !options.fresh && Date.now() - foreign.readAt < foreignMs) return { ok: true, value: foreign };
    const readAt = Date.now();
    const [nodes, every] = await Promise.all([
      readAll(api, { path: "api/v1/nodes", item: nodeSchema, query: "", options }),
      readAll(api, { path: "api/v1/pods", item: podSchema, query: "", options }),
    ]);
    if (!nodes.ok) return nodes;
    const forbidden = !every.ok && every.failure === "forbidden";
    const found = forbidden ? await readAll(api, { path: ownPods, item: podSchema, query: "", options }) : every;
    if (!found.ok) return found;
    const pods = found.value.filter((pod) => !isOfCluster(pod, clusterId));
    foreign = { readAt, nodes: nodes.value, pods, allPods: !forbidden };
    return { ok: true, value: foreign };
  }

  return async (options) => {
    const list = <Item extends z.ZodType>(path: string, item: Item, query = "") => readAll(api, { path, item, query, options });
    const [others, own, deployments, groups, services] = await Promise.all([
      readForeign(options),
      list(ownPods, podSchema, ours),
      list(collectionPath("Deployment", namespace), runningSchema, ours),
      list(collectionPath("LeaderWorkerSet", namespace), runningSchema, ours),
      list(collectionPath("Service", namespace), serviceSchema, ours),
    ]);
    if (!others.ok) return others;
    if (!own.ok) return own;
    if (!deployments.ok) return deployments;
    if (!services.ok) return services;
    // If the LeaderWorkerSet API is not installed there are none.
    if (!groups.ok && groups.failure !== "missing") return groups;
    const running = [...deployments.value, ...(groups.ok ? groups.value : [])];
    const pods = [...own.value, ...others.value.pods];
    return { ok: true, value: { ...others.value, pods, running, services: services.value } };
  };
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
