import type { GpuFrame, LiveFrame, Sample } from "@/server/contracts/studio";

export interface HeatNode {
  readonly name: string;
  readonly gpus: readonly { readonly gpu: GpuFrame; readonly memoryUse: Sample; readonly model: string | null }[];
}

/** GPUs by node, in index order, with the share of memory in use. */
export function heatNodes(frame: LiveFrame): readonly HeatNode[] {
  const modelOf = new Map(frame.engines.map((engine) => [engine.id, engine.model]));
  const names = [...new Set(frame.gpus.map((gpu) => gpu.node))].sort();
  return names.map((name) => ({
    name,
    gpus: frame.gpus
      .filter((gpu) => gpu.node === name)
      .sort((a, b) => a.index - b.index)
      .map((gpu) => ({
        gpu,
        memoryUse:
          gpu.memoryUsedBytes === null || gpu.memoryTotalBytes === null || gpu.memoryTotalBytes === 0
            ? null
            : gpu.memoryUsedBytes / gpu.memoryTotalBytes,
        model: gpu.engineId === null ? null : (modelOf.get(gpu.engineId) ?? null),
      })),
  }));
}
