import type { GpuFrame } from "@/server/contracts/studio";
import type { PromSample, PromText } from "@/server/engines/promText";

/** An exporter's values of one GPU, or of one part of a divided one. null is absent, never zero. */
export type GpuReading = Omit<GpuFrame, "engineId" | "source">;

export const BYTES_PER_MIB = 1024 * 1024;

const active = "DCGM_FI_PROF_GR_ENGINE_ACTIVE";
const busy = "DCGM_FI_DEV_GPU_UTIL";
const used = "DCGM_FI_DEV_FB_USED";
const free = "DCGM_FI_DEV_FB_FREE";
const reserved = "DCGM_FI_DEV_FB_RESERVED";
const power = "DCGM_FI_DEV_POWER_USAGE";
const temperature = "DCGM_FI_DEV_GPU_TEMP";

interface Collected {
  readonly gpu: Pick<GpuReading, "node" | "index" | "instance" | "name">;
  readonly values: Map<string, number>;
  readonly containers: Map<string, GpuReading["containers"][number]>;
}

/**
 * Reads dcgm-exporter's text. Utilisation is GR_ENGINE_ACTIVE if it is exported, else GPU_UTIL, which only says that some kernel ran. There
 * is no FB_TOTAL: the total is used + free + reserved (reserved counts as 0 only where an exporter is too old to have it, which makes the
 * total a little low). On Kubernetes a shared GPU is written once for each container that has it.
 *
 * @param node the GPUs' node if no label states it.
 * @returns one reading per GPU, or per part of a divided one, of each node, in order of appearance.
 */
export function readGpus(metrics: PromText, node = ""): readonly GpuReading[] {
  const found = new Map<string, Collected>();
  for (const name of [active, busy, used, free, reserved, power, temperature]) {
    for (const sample of metrics.byName.get(name) ?? []) {
      const gpu = gpuOf(sample, node);
      if (gpu === null || !Number.isFinite(sample.value)) continue;
      const key = `${gpu.node}/${gpu.index}/${gpu.instance?.id ?? ""}`;
      const known = found.get(key) ?? { gpu, values: new Map(), containers: new Map() };
      found.set(key, known);
      known.values.set(name, sample.value);
      const { namespace = "", pod = "", container = "" } = sample.labels;
      if (pod !== "") known.containers.set(`${namespace}/${pod}/${container}`, { namespace, pod, container });
    }
  }
  return [...found.values()].map(({ gpu, values, containers }) => {
    const { instance } = gpu;
    const value = (name: string): number | null => values.get(name) ?? null;
    const [usedMib, freeMib, activeShare, busyPercent] = [value(used), value(free), value(active), value(busy)];
    return {
      index: gpu.index,
      node: copy(gpu.node),
      name: copy(gpu.name),
      instance: instance === null ? null : { id: copy(instance.id), profile: copy(instance.profile) },
      utilisation: activeShare ?? (busyPercent === null ? null : busyPercent / 100),
      utilisationOf: activeShare !== null ? "graphics engine" : busyPercent !== null ? "any kernel" : null,
      memoryUsedBytes: usedMib === null ? null : usedMib * BYTES_PER_MIB,
      memoryTotalBytes: usedMib === null || freeMib === null ? null : (usedMib + freeMib + (value(reserved) ?? 0)) * BYTES_PER_MIB,
      powerWatts: value(power),
      temperatureCelsius: value(temperature),
      containers: [...containers.values()].map(({ namespace, pod, container }) => {
        return { namespace: copy(namespace), pod: copy(pod), container: copy(container) };
      }),
    };
  });
}

/** A label is a slice, which keeps its whole source text in memory; ten minutes of frames would do so. */
const copy = (label: string): string => Buffer.from(label).toString();

/** The GPU of a sample; null if no label has its number. */
function gpuOf({ labels }: PromSample, node: string): Collected["gpu"] | null {
  const { gpu = labels.device?.replace(/^nvidia/, "") ?? "", GPU_I_ID: id = "", GPU_I_PROFILE: profile = "", modelName = "" } = labels;
  if (!/^\d+$/.test(gpu)) return null;
  return {
    node: [labels.Hostname, labels.hostname, labels.node].find((name) => name !== undefined && name !== "") ?? node,
    index: Number(gpu),
    instance: id === "" ? null : { id, profile },
    name: modelName,
  };
}
