import { type ModelCard, weightBytes } from "@/solver/hardware/modelCard";

/** Where weights are read from when an engine starts. */
export type WeightStorage = "local-nvme" | "network-disk" | "object-store";

/** Bytes of weights a second that an engine reads with its default loader, alone and with many GPUs of one node reading, and whose figures these are. */
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
 * Of an engine's start what is not reading weights: imports, profiling, KV cache, graphs. It makes the source's loads of 7B to 9B models on one A100, 38 to
 * 47 s, of the 15 to 19 GB that they weigh (MOSAIC, appendix A.2). The first start of a version on a machine, which compiles, takes a minute longer.
 */
const ENGINE_START_SECONDS = 27;

/** Seconds from an empty GPU to an engine that answers, and what they are from. */
export interface LoadEstimate {
  readonly seconds: number;
  readonly source: string;
}

/**
 * Estimates how long an engine of a model takes to load, from the bytes of its weights and what its storage gives.
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
