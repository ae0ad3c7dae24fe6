import type { Observation } from "@/server/clusters/connector/connector";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";

export type Hardware = Pick<ClusterSpec, "gpu" | "nodes" | "usdPerGpuHour" | "otherUsdPerGpuHour">;

/**
 * The hardware for planning, as observed. Nodes without GPUs are excluded; null if there are no others.
 *
 * @param priceOf USD per GPU hour of a type.
 */
export function observedHardware(
  { gpu, nodes: seen }: Pick<Observation, "gpu" | "nodes">,
  priceOf: (gpu: string) => number,
): Hardware | null {
  const nodes = seen
    .filter(({ gpus }) => gpus > 0)
    .map(({ name, gpus, gpu: own, engineOf, processor }) => ({
      ...{ name, gpus },
      ...(own === undefined || own === gpu ? {} : { gpu: own }),
      ...(engineOf === undefined ? {} : { engineOf }),
      ...(processor === undefined ? {} : { processor }),
    }));
  const [first] = nodes;
  if (first === undefined) return null;
  const others = gpuTypes({ id: "", name: "", kind: "described", gpu, nodes, usdPerGpuHour: 0 }).filter((type) => type !== gpu);
  const otherPrices = Object.fromEntries(others.map((type) => [type, priceOf(type)]));
  return { gpu, nodes, usdPerGpuHour: priceOf(gpu), ...(others.length === 0 ? {} : { otherUsdPerGpuHour: otherPrices }) };
}

/** The price of a GPU type in a cluster; null if it has none, or one that was never known. */
export function knownPrice(spec: ClusterSpec, gpu: string): number | null {
  const price = gpu === spec.gpu ? spec.usdPerGpuHour : spec.otherUsdPerGpuHour?.[gpu];
  return price === undefined || price === 0 ? null : price;
}
