import { formatGibibytes, formatPercent } from "@/components/ui/format";
import type { GpuFrame, LiveFrame, Sample } from "@/server/contracts/studio";

/** A GPU, or a part of one. */
export interface HeatCell {
  readonly key: string;
  readonly gpu: GpuFrame;
  readonly memoryUse: Sample;
  readonly model: string | null;
  /** All that is known of it, in one line. */
  readonly text: string;
}

export interface HeatNode {
  readonly name: string;
  /** By index; a divided GPU has a cell a part. */
  readonly gpus: readonly { readonly index: number; readonly cells: readonly HeatCell[] }[];
}

/** GPUs by node, in index order, with what is known of each. */
export function heatNodes({ engines, gpus }: LiveFrame): readonly HeatNode[] {
  const modelOf = new Map(engines.map(({ id, model }) => [id, model]));
  const names = [...new Set(gpus.map(({ node }) => node))].sort();
  return names.map((name) => {
    const own = gpus.filter(({ node }) => node === name);
    const indices = [...new Set(own.map(({ index }) => index))].sort((a, b) => a - b);
    return {
      name,
      gpus: indices.map((index) => ({
        index,
        cells: own
          .filter((gpu) => gpu.index === index)
          .sort((a, b) => Number(a.instance?.id ?? 0) - Number(b.instance?.id ?? 0))
          .map((gpu) => cellOf(gpu, gpu.engineId === null ? null : (modelOf.get(gpu.engineId) ?? null))),
      })),
    };
  });
}

function cellOf(gpu: GpuFrame, model: string | null): HeatCell {
  const { node, index, instance, memoryUsedBytes, memoryTotalBytes } = gpu;
  const known = memoryUsedBytes !== null && memoryTotalBytes !== null && memoryTotalBytes !== 0;
  return {
    key: `${node}/${index}/${instance?.id ?? ""}`,
    gpu,
    memoryUse: known ? memoryUsedBytes / memoryTotalBytes : null,
    model,
    text: textOf(gpu, model),
  };
}

function textOf(gpu: GpuFrame, model: string | null): string {
  const { name, instance, containers, powerWatts, temperatureCelsius } = gpu;
  const parts = [
    `GPU ${gpu.index}${instance === null ? "" : `, part ${instance.id} (${instance.profile})`}${name === "" ? "" : `, ${name}`}`,
    model === null ? "free" : model,
    gpu.utilisation === null ? "utilisation unknown" : `utilisation ${formatPercent(gpu.utilisation)}`,
    `memory ${formatGibibytes(gpu.memoryUsedBytes)} of ${formatGibibytes(gpu.memoryTotalBytes)}`,
    ...(powerWatts === null ? [] : [`${Math.round(powerWatts)}\u00a0W`]),
    ...(temperatureCelsius === null ? [] : [`${Math.round(temperatureCelsius)}\u00a0°C`]),
    ...containers.map(({ namespace, pod, container }) => `container ${namespace}/${pod}/${container}`),
  ];
  return parts.join("; ");
}

const utilisations = {
  "graphics engine": { word: "some engine computed", text: "share of the time in which some engine of the GPU computed", says: "much" },
  "any kernel": {
    word: "any kernel",
    text: "share of the time in which any kernel ran, however small: near 100 % on any GPU in use, so it shows little",
    says: "little",
  },
} as const;

/** What utilisation measures on these GPUs; several where their sources differ, none where no source says. */
export function utilisationsOf(gpus: readonly GpuFrame[]): readonly (typeof utilisations)[keyof typeof utilisations][] {
  const told = new Set(gpus.flatMap(({ utilisationOf }) => (utilisationOf === null ? [] : [utilisationOf])));
  return [...told].sort().map((each) => utilisations[each]);
}
