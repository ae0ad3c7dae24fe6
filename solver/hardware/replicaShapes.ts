import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { vllmProfile } from "./builtInProfiles";
import { type EngineLimits, withLimits } from "./engineLimits";
import type { EngineProfile } from "./engineProfile";
import type { GpuCard } from "./gpus";
import { memoryFit } from "./memoryFit";
import type { ModelCard } from "./modelCard";
import { pipelineParallelisms, type ReplicaShape, tensorParallelisms } from "./parallelism";
import { stepTime } from "./stepTime";

/** Maximum number of sequences an engine runs at once: vLLM's `max-num-seqs` default for a server. */
export const MAX_SEQUENCES = 256;

/** Tokens of one step under chunked prefill: vLLM's `max-num-batched-tokens` default on GPUs of 80 GB. */
export const MAX_BATCHED_TOKENS = 8192;

export type ReplicaFit = { readonly fits: true; readonly replica: ReplicaModel } | { readonly fits: false; readonly reason: string };

/**
 * The simulator's model of one engine: bounds from memory and vLLM's defaults (others by `withLimits`), times from `stepTime`.
 *
 * @param profile fitted terms of the engine's own work; vLLM's by default.
 */
export function replicaModel(model: ModelCard, gpu: GpuCard, shape: ReplicaShape, profile: EngineProfile = vllmProfile): ReplicaFit {
  const fit = memoryFit(model, gpu, shape);
  if (!fit.fits) return fit;
  const { requestSeconds, requestSecondsPerInputToken, requestSecondsPerOutputToken, delaySeconds } = profile.coefficients;
  return {
    fits: true,
    replica: {
      stepTime: stepTime(model, gpu, shape, profile),
      kvTokens: fit.kvTokens,
      maxSequences: MAX_SEQUENCES,
      maxBatchedTokens: MAX_BATCHED_TOKENS,
      requestSeconds: (inputTokens) => requestSeconds + requestSecondsPerInputToken * inputTokens,
      tokenSeconds: requestSecondsPerOutputToken,
      delaySeconds,
    },
  };
}

/**
 * Shapes of one replica that fit. Tensor parallelism stays inside a node; a pipeline may cross nodes. Ascending by GPUs, then
 * by pipeline stages; empty when no shape within `maxGpus` holds the model.
 */
export function feasibleShapes(
  model: ModelCard,
  gpu: GpuCard,
  cluster: { readonly gpusPerNode: number; readonly maxGpus: number },
): readonly ReplicaShape[] {
  return tensorParallelisms
    .filter((tp) => tp <= cluster.gpusPerNode)
    .flatMap((tp) => pipelineParallelisms.map((pp) => ({ tp, pp })))
    .filter((shape) => shape.tp * shape.pp <= cluster.maxGpus && memoryFit(model, gpu, shape).fits)
    .sort((a, b) => a.tp * a.pp - b.tp * b.pp || a.pp - b.pp);
}

/** A shape of one model's replica on one GPU type with its simulator model. */
export interface ShapedReplica {
  readonly gpu: string;
  readonly shape: ReplicaShape;
  readonly replica: ReplicaModel;
}

/** `feasibleShapes`, each with its simulator model, under the known limits of its engines. */
export function feasibleReplicas(
  model: ModelCard,
  gpu: GpuCard,
  cluster: { readonly gpusPerNode: number; readonly maxGpus: number; readonly limits?: EngineLimits },
  profile?: EngineProfile,
): readonly ShapedReplica[] {
  return feasibleShapes(model, gpu, cluster).flatMap((shape) => {
    const fit = replicaModel(model, gpu, shape, profile);
    return fit.fits ? [{ gpu: gpu.id, shape, replica: withLimits(fit.replica, cluster.limits ?? {}) }] : [];
  });
}
