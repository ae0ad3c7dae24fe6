import type { ObservedEngine, ObservedNode } from "@/server/clusters/connector/connector";
import { mostCommon } from "@/server/clusters/connector/obstacle";
import { gpuKeys } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { knownAccelerators, type RayConnection } from "./connection";
import { nodeNamed } from "./names";
import type { RayResources } from "./rayResources";
import type { ServeApplication, ServeState } from "./serveState";

interface PicturedNode extends ObservedNode {
  readonly freeGpus: number;
}

/** An application that is no engine of this cluster's: it is kept unchanged. */
type ForeignApplication = Pick<ServeApplication, "name" | "status" | "routePrefix" | "importPath">;

export interface ClusterPicture {
  readonly gpu: string;
  readonly nodes: readonly PicturedNode[];
  readonly engines: readonly ObservedEngine[];
  readonly foreign: readonly ForeignApplication[];
  /** What could not be read or used, in sentences. */
  readonly notes: readonly string[];
}

export interface PictureParts {
  readonly connection: RayConnection;
  readonly clusterId: string;
  /** For an application of this cluster whose order Ray no longer shows, since it is being deleted. */
  readonly endingOrder: (application: string) => EngineOrder | null;
}

/** GPUs and engines from Ray's lists; a sentence if no node can take an engine. */
export function pictureOf(serve: ServeState, resources: RayResources, parts: PictureParts): ClusterPicture | string {
  const { connection } = parts;
  const notes: string[] = [];
  const orderOf = ({ name, owner, status }: ServeApplication): EngineOrder | null => {
    if (status === "DELETING") return parts.endingOrder(name);
    return owner?.cluster === parts.clusterId ? owner.engine : null;
  };
  const engines: ObservedEngine[] = [];
  const own = new Set<string>();
  for (const application of serve.applications) {
    const order = orderOf(application);
    if (order === null) continue;
    own.add(application.name);
    const { precision: _, ...engine } = order;
    // An application that Ray gave up may hold GPUs, and is no engine to be kept.
    const stopping = ["DELETING", "DEPLOY_FAILED"].includes(application.status);
    engines.push({ ...engine, url: engineUrl(application.name, serve, connection), stopping });
  }
  const found = resources.nodes.flatMap((node) => {
    const gpus = node.resources.GPU ?? 0;
    if (gpus < 1) return [];
    const names = Object.keys(node.resources).flatMap((resource) => nodeNamed(resource, connection.nodeResource) ?? []);
    const card = cardOf(node.resources, connection);
    const [name] = names;
    if (name === undefined || names.length > 1)
      notes.push(
        `A node with ${gpus} GPUs has ${name === undefined ? "no" : "more than one"} resource like ${connection.nodeResource} and is left out.`,
      );
    else if (card === null) notes.push(`${name} does not tell the type of its GPUs and is left out: name it as the connection's gpu.`);
    return name === undefined || names.length > 1 || card === null ? [] : [{ id: node.id, name, gpus: Math.floor(gpus), card }];
  });
  if (found.length === 0)
    return `No node of this Ray cluster has GPUs that engines can be placed on.${notes.map((note) => ` ${note}`).join("")}`;
  const gpu = connection.gpu ?? mostCommon(found.map(({ card }) => card)) ?? "";
  const nodes = found.map(({ id, name, gpus, card }): PicturedNode => {
    const used = resources.uses.filter(({ nodeId, application }) => nodeId === id && !own.has(application ?? ""));
    const othersGpus = Math.ceil(used.reduce((sum, one) => sum + one.gpus, 0));
    const held = engines.flatMap(gpuKeys).filter((key) => key.slice(0, key.lastIndexOf("/")) === name).length;
    const freeGpus = Math.max(0, gpus - held - othersGpus);
    return { name, gpus, ...(card === gpu ? {} : { gpu: card }), ...(othersGpus === 0 ? {} : { othersGpus }), freeGpus };
  });
  const foreign = serve.applications
    .filter(({ name }) => !own.has(name))
    .map(({ name, status, routePrefix, importPath }) => ({ name, status, routePrefix, importPath }));
  for (const { name, routePrefix } of foreign)
    notes.push(
      `The application ${name}${routePrefix === null ? "" : ` under ${routePrefix}`} does not belong to this cluster and is kept as it is.`,
    );
  return { gpu, nodes, engines, foreign, notes };
}

/** Each engine has its own path at Serve's proxies. */
function engineUrl(application: string, { httpPort }: ServeState, { serveUrl, http, dashboard }: RayConnection): string {
  const { hostname } = new URL(dashboard);
  const base = serveUrl ?? `http://${hostname}:${httpPort ?? http?.port ?? 8000}`;
  return `${base.replace(/\/$/, "")}/${application}`;
}

/** Card of a node's GPUs, by the accelerator type among its resources. */
function cardOf(resources: Readonly<Record<string, number>>, connection: RayConnection): string | null {
  const cards = { ...knownAccelerators, ...connection.accelerators };
  const type = Object.keys(resources).find((name) => name.startsWith("accelerator_type:"));
  return (type === undefined ? undefined : cards[type.slice("accelerator_type:".length)]) ?? connection.gpu ?? null;
}
