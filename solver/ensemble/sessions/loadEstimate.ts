import { type ModelCard, weightBytes } from "@/solver/hardware/modelCard";

/** Storage of the weights when an engine starts. */
export type WeightStorage = "local-nvme" | "network-disk" | "object-store";

/**
 * Bytes of weights a second that an engine reads with its default loader, alone and with many GPUs of one node reading, and the source of
 * these figures.
 */
const READING: Readonly<Record<WeightStorage, { readonly oneGpu: number; readonly oneNode: number; readonly source: string }>> = {
  "local-nvme": {
    oneGpu: 1.1e9,
    oneNode: 4.3e9,
    source: "vLLM's safetensors loader at 1.1 GB/s on one GPU and 4.3 GB/s on eight (docs.vllm.ai, InstantTensor's benchmarks)",
  },
  "network-disk": {
    oneGpu: 0.33e9,
    oneNode: 0.33e9,
    source:
      "vLLM's safetensors loader on a network disk, 8B in 48 s (NVIDIA's Run:ai Model Streamer benchmarks), for all GPUs of a node together",
  },
  "object-store": {
    oneGpu: 0.21e9,
    oneNode: 0.25e9,
    source: "8B downloaded in 61 s, then read at local speed (tensorfuse.io on vLLM's cold starts)",
  },
};

/**
 * The part of an engine's start that is not reading weights: imports, profiling, KV cache, graphs. It is set to reproduce the source's
 * loads of 7B to 9B models on one A100, 38 to 47 s, with weights of 15 to 19 GB (MOSAIC, appendix A.2). The first start of a version on a
 * machine, which compiles, takes a minute longer.
 */
const ENGINE_START_SECONDS = 27;

/** Seconds from an empty GPU to an engine that answers, and their basis. */
export interface LoadEstimate {
  readonly seconds: number;
  readonly source: string;
}

/**
 * Estimates the loading time of an engine of a model, from the bytes of its weights and the rate of its storage.
 *
 * @param gpus of the engine.
 */
export function estimatedLoadSeconds(model: ModelCard, gpus: number, storage: WeightStorage): LoadEstimate {
  const { oneGpu, oneNode, source } = READING[storage];
  const bytes = weightBytes(model);
  return {
    seconds: ENGINE_START_SECONDS + bytes / Math.min(gpus * oneGpu, oneNode),
    source: `${(bytes / 1e9).toFixed(1)} GB of weights by ${source}, and ${ENGINE_START_SECONDS} s to start an engine (MOSAIC, appendix A.2)`,
  };
}
