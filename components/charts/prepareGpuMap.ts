import { gpuOfNode, gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { ModelDeployment } from "@/solver/plan/plan";
import { formatPercent } from "../ui/format";
import type { ModelIdentity } from "../ui/modelIdentity";

/** A run of neighbouring GPUs of one replica on one node, or of free ones. */
export interface GpuBlock {
  /** Stable across renders: node and first GPU. */
  readonly key: string;
  readonly gpus: readonly number[];
  /** null: free. */
  readonly identity: ModelIdentity | null;
  /** Shape in words, such as `tp 4`; empty for free GPUs and single-GPU replicas. */
  readonly shape: string;
  /** Why these GPUs have this use. */
  readonly why: string;
}

export interface GpuNode {
  readonly name: string;
  readonly gpus: number;
  /** GPU type, where the cluster has several; else null. */
  readonly type: string | null;
  readonly blocks: readonly GpuBlock[];
}

interface Tenant {
  readonly id: string;
  readonly identity: ModelIdentity;
  readonly shape: string;
  readonly why: string;
}

function shapeText(tp: number, pp: number): string {
  return [tp > 1 ? `tp ${tp}` : "", pp > 1 ? `pp ${pp}` : ""].filter((part) => part !== "").join(" ");
}

function tenantsOf(deployment: readonly ModelDeployment[], identities: ReadonlyMap<string, ModelIdentity>): ReadonlyMap<string, Tenant> {
  const tenants = new Map<string, Tenant>();
  for (const model of deployment) {
    const identity = identities.get(model.model);
    if (identity === undefined) continue;
    for (const [groupIndex, group] of model.replicas.entries()) {
      const shape = shapeText(group.tp, group.pp);
      const across =
        group.tp * group.pp === 1
          ? "on one GPU"
          : `across ${group.tp * group.pp} GPUs (${shape}${group.pp > 1 ? "; only a pipeline may leave its node" : "; tensor parallelism stays inside the node"})`;
      const why = `${model.model}, ${model.precision}, ${across}. One of ${group.count} such ${group.count === 1 ? "replica" : "replicas"}; serves ${formatPercent(group.shareEach)} of this model's requests.`;
      for (const [replicaIndex, placements] of group.placements.entries()) {
        const tenant = { id: `${model.model}/${groupIndex}/${replicaIndex}`, identity, shape, why };
        for (const placement of placements) for (const gpu of placement.gpus) tenants.set(`${placement.node}:${gpu}`, tenant);
      }
    }
  }
  return tenants;
}

/** Computes what each GPU of each node shows: neighbouring GPUs of one replica become one block. */
export function prepareGpuMap(input: {
  readonly cluster: ClusterSpec;
  readonly deployment: readonly ModelDeployment[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}): readonly GpuNode[] {
  const tenants = tenantsOf(input.deployment, input.identities);
  const mixed = gpuTypes(input.cluster).length > 1;
  return input.cluster.nodes.map((node) => {
    const blocks: { tenant: Tenant | undefined; gpus: number[] }[] = [];
    for (let gpu = 0; gpu < node.gpus; gpu++) {
      const tenant = tenants.get(`${node.name}:${gpu}`);
      const last = blocks.at(-1);
      if (last !== undefined && last.tenant?.id === tenant?.id) last.gpus.push(gpu);
      else blocks.push({ tenant, gpus: [gpu] });
    }
    return {
      name: node.name,
      gpus: node.gpus,
      type: mixed ? gpuOfNode(input.cluster, node) : null,
      blocks: blocks.map(({ tenant, gpus }) => ({
        key: `${node.name}:${gpus[0]}`,
        gpus,
        identity: tenant?.identity ?? null,
        shape: tenant?.shape ?? "",
        why: tenant?.why ?? "Free: this plan does not use it.",
      })),
    };
  });
}
