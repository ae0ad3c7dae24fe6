import { utilisationAt } from "@/solver/engine/saturation";
import type { HostedModel } from "@/solver/hardware/hostedModel";
import { HOSTED_GPU } from "@/solver/hardware/hostedReplica";
import { gpuPrices } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { ModelDeployment } from "@/solver/plan/plan";
import type { CapacityTable } from "../tables/capacityTable";
import type { ShapeCount } from "../tables/shapeMix";

/** The replicas of one model. */
export interface DeployedStage {
  readonly model: string;
  readonly replicas: readonly ShapeCount[];
  /** Latency percentile by the tables, in seconds. */
  readonly tableSeconds: number;
  /** Rate at which the replicas finish requests when they always have work. */
  readonly saturationRequestsPerSecond: number;
  /** Requests per second divided by that rate. */
  readonly utilisation: number;
  readonly gpus: number;
  /** Set where a provider hosts the model: it has one replica on no GPU. */
  readonly hosted?: HostedModel;
  /** The replicas with their GPUs on nodes, as a plan lists them. */
  readonly groups: ModelDeployment["replicas"];
}

/** Saturation rate of the replicas and its utilisation. @param table the one with the replicas' shapes. */
export function loadOf(
  { shapes }: CapacityTable,
  replicas: readonly ShapeCount[],
  requestsPerSecond: number,
): Pick<DeployedStage, "saturationRequestsPerSecond" | "utilisation"> {
  const saturationRequestsPerSecond = replicas.reduce((sum, { shape, count }) => {
    const curve = shapes.find((candidate) => candidate.shape === shape)?.curve;
    return sum + count * (curve?.saturationRequestsPerSecond ?? 0);
  }, 0);
  return { saturationRequestsPerSecond, utilisation: utilisationAt(requestsPerSecond, saturationRequestsPerSecond) };
}

export const gpusOf = (replicas: readonly ShapeCount[]): number =>
  replicas.reduce((sum, { shape, count }) => sum + shape.tp * shape.pp * count, 0);

/** GPUs of each type that the stages use. */
export function gpusByType(stages: readonly Pick<DeployedStage, "replicas">[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { replicas } of stages)
    for (const one of replicas) if (one.gpu !== HOSTED_GPU) counts.set(one.gpu, (counts.get(one.gpu) ?? 0) + gpusOf([one]));
  return counts;
}

/** The GPU type that holds most of a model's GPUs. */
export const mainGpu = (replicas: readonly ShapeCount[]): string =>
  [...gpusByType([{ replicas }])].reduce((most, type) => (type[1] > most[1] ? type : most), ["", 0])[0];

/** Cost of the stages in a cluster. GPUs of an engine that serves several models are paid once. */
export function usdPerHour(stages: readonly Pick<DeployedStage, "replicas" | "groups">[], cluster: ClusterSpec): number {
  const prices = gpuPrices(cluster);
  const engineOf = new Map(cluster.nodes.map(({ name, engineOf: host = name }) => [name, host]));
  const paid = new Set<string>();
  const again = stages.flatMap(({ replicas, groups }) =>
    groups.flatMap(({ placements }, group) =>
      placements.flat().flatMap(({ node, gpus }) =>
        gpus.flatMap((gpu) => {
          const key = `${engineOf.get(node) ?? node} ${gpu}`;
          if (!paid.has(key)) return paid.add(key) && [];
          return [prices[replicas[group]?.gpu ?? ""] ?? 0];
        }),
      ),
    ),
  );
  const all = [...gpusByType(stages)].reduce((sum, [gpu, count]) => sum + count * (prices[gpu] ?? 0), 0);
  return again.reduce((usd, price) => usd - price, all);
}
