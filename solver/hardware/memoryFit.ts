import { kvShards } from "./architecture";
import type { GpuCard } from "./gpus";
import { kvBytesPerToken, type ModelCard, replicatedWeightBytes, weightBytes } from "./modelCard";
import { largestStageShare, type ReplicaShape, shapeRefusal } from "./parallelism";

/** Maximum share of a GPU's memory for an engine: vLLM's `gpu-memory-utilization` default. */
export const MEMORY_SHARE = 0.9;

/** Activations, CUDA graphs and communication buffers of one GPU at 8192 tokens a step, in bytes (order of what vLLM profiles). */
const OVERHEAD_BYTES = 2.5e9;

/** A replica that cannot hold one full prefill step in its cache is not useful. */
export const MIN_KV_TOKENS = 8192;

export type MemoryFit =
  | {
      readonly fits: true;
      /** KV cache capacity of the replica in tokens. */
      readonly kvTokens: number;
      readonly weightBytesPerGpu: number;
      readonly kvBytesPerGpu: number;
    }
  | { readonly fits: false; readonly reason: string };

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

/**
 * Whether a model's weights and a useful KV cache fit on the GPUs of one replica, and how many tokens the cache holds:
 * `(memoryShare * memory - weights of one GPU - OVERHEAD_BYTES) / (KV bytes of a token on one GPU)`. The fullest pipeline stage
 * decides. Tensor parallelism divides every matrix, also each expert's (expert parallelism, whole experts on each GPU, needs the
 * same memory), except the few that engines replicate. KV heads fewer than tp are stored more than once, MLA's latent on every GPU.
 *
 * @param memoryShare share of a GPU's memory (0..1) that the engine may take.
 */
export function memoryFit(model: ModelCard, gpu: GpuCard, shape: ReplicaShape, memoryShare: number = MEMORY_SHARE): MemoryFit {
  const refusal = shapeRefusal(model, shape);
  if (refusal !== null) return { fits: false, reason: refusal };

  const stageShare = largestStageShare(model, shape);
  const replicated = replicatedWeightBytes(model);
  const weightBytesPerGpu = ((weightBytes(model) - replicated) / shape.tp + replicated) * stageShare;
  const usableBytes = memoryShare * gpu.memoryBytes - OVERHEAD_BYTES;
  const kvBytesPerGpu = usableBytes - weightBytesPerGpu;
  const label = `${model.id} in ${model.precision} at tp ${shape.tp}, pp ${shape.pp}`;
  if (usableBytes <= 0) {
    const share = gigabytes(memoryShare * gpu.memoryBytes);
    return {
      fits: false,
      reason: `${gpu.id} is ${gigabytes(-usableBytes)} too small for any model: an engine may take ${share} of it and needs ${gigabytes(OVERHEAD_BYTES)} besides weights and KV cache`,
    };
  }
  if (kvBytesPerGpu <= 0) {
    return {
      fits: false,
      reason: `${label} needs ${gigabytes(weightBytesPerGpu)} of weights on each ${gpu.id}, ${gigabytes(-kvBytesPerGpu)} more than the ${gigabytes(usableBytes)} it has for them: use more GPUs per replica`,
    };
  }
  const kvTokens = Math.floor(kvBytesPerGpu / ((kvBytesPerToken(model) * stageShare) / kvShards(model.architecture, shape.tp)));
  if (kvTokens < MIN_KV_TOKENS) {
    return {
      fits: false,
      reason: `${label} leaves room for ${kvTokens} KV tokens on ${gpu.id}, fewer than one step of ${MIN_KV_TOKENS}: use more GPUs per replica`,
    };
  }
  return { fits: true, kvTokens, weightBytesPerGpu, kvBytesPerGpu };
}
