import { z } from "zod";
import { type RayApi, type RayCall, type RayRead, readJson } from "./rayApi";

/** Most rows that Ray's state API lists. */
const mostRows = 10_000;

const resourcesSchema = z.record(z.string(), z.number());

const nodeSchema = z.object({ node_id: z.string(), state: z.string(), resources_total: resourcesSchema });
const actorSchema = z.object({ name: z.string().nullish(), node_id: z.string().nullish(), required_resources: resourcesSchema.nullish() });
const groupSchema = z.object({
  name: z.string().nullish(),
  bundles: z.array(z.object({ unit_resources: resourcesSchema, node_id: z.string().nullish() })).nullish(),
});

interface RayNode {
  readonly id: string;
  readonly resources: Readonly<Record<string, number>>;
}

/** GPUs that Ray has reserved on a node, for an actor or a part of a placement group. */
interface GpuUse {
  readonly nodeId: string;
  readonly gpus: number;
  /** The Serve application whose replica has them; null for anything else. */
  readonly application: string | null;
}

export interface RayResources {
  readonly nodes: readonly RayNode[];
  readonly uses: readonly GpuUse[];
}

/**
 * Living nodes and the holders of their GPUs, from Ray's state API (`/api/v0`). It does not include GPUs of plain tasks, whose records
 * arrive late, and of processes outside of Ray. `/api/cluster_status` counts both kinds of Ray's own and is some seconds behind, so that a
 * stopped engine's GPUs would be attributed to others.
 */
export async function readRayResources(api: RayApi, call: RayCall): Promise<RayRead<RayResources>> {
  const [nodes, actors, groups] = await Promise.all([
    list(api, { collection: "nodes", state: "ALIVE", schema: nodeSchema }, call),
    list(api, { collection: "actors", state: "ALIVE", schema: actorSchema }, call),
    list(api, { collection: "placement_groups", state: "CREATED", schema: groupSchema }, call),
  ]);
  if (!nodes.ok) return nodes;
  if (!actors.ok) return actors;
  if (!groups.ok) return groups;
  // An actor within a group requests a share of the group, not GPUs.
  const asked = [
    ...actors.value.map(({ name, node_id, required_resources }) => ({ name, node_id, resources: required_resources ?? {} })),
    ...groups.value.flatMap(({ name, bundles }) =>
      (bundles ?? []).map(({ unit_resources, node_id }) => ({ name, node_id, resources: unit_resources })),
    ),
  ];
  const uses = asked.flatMap(({ name, node_id, resources }): readonly GpuUse[] => {
    const gpus = resources.GPU ?? 0;
    return gpus > 0 && node_id ? [{ nodeId: node_id, gpus, application: applicationOf(name ?? "") }] : [];
  });
  return {
    ok: true,
    value: { nodes: nodes.value.map(({ node_id, resources_total }) => ({ id: node_id, resources: resources_total })), uses },
  };
}

/** Serve names replicas, and groups made for them, `SERVE_REPLICA::application#deployment#id`. */
function applicationOf(name: string): string | null {
  return /^SERVE_REPLICA::([^#]+)#/.exec(name)?.[1] ?? null;
}

interface Listing<Row> {
  readonly collection: string;
  readonly state: string;
  readonly schema: z.ZodType<Row>;
}

async function list<Row>(api: RayApi, { collection, state, schema }: Listing<Row>, call: RayCall): Promise<RayRead<readonly Row[]>> {
  const query = `detail=1&limit=${mostRows}&filter_keys=state&filter_predicates=%3D&filter_values=${state}`;
  const json = readJson(await api(`/api/v0/${collection}?${query}`, call));
  if (!json.ok) return json;
  const listed = z.object({ data: z.object({ result: z.object({ result: z.array(schema) }) }) }).safeParse(json.value);
  if (listed.success) return { ok: true, value: listed.data.data.result.result };
  return {
    ok: false,
    message: `The state of ${collection.replace("_", " ")} cannot be read: check that the address is that of Ray's dashboard.`,
    refused: true,
  };
}
