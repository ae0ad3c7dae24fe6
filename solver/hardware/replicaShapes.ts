import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { vllmProfile } from "./builtInProfiles";
import { type EngineLimits, withLimits } from "./engineLimits";
import { type EngineProfile, isMeasured } from "./engineProfile";
import type { GpuCard } from "./gpus";
import { measuredReplica } from "./measuredEngine";
import { measuredOf } from "./measuredProfile";
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
 * The simulator's model of one engine: bounds from memory and vLLM's defaults (others by `withLimits`), times from `stepTime`. On a GPU of
 * which a measured profile has engines, bounds and times of those, and no others; on other GPUs such a profile says nothing, and vLLM's
 * holds.
 *
 * @param profile fitted terms of the engine's own work, or measured engines; vLLM's by default.
 */
export function replicaModel(model: ModelCard, gpu: GpuCard, shape: ReplicaShape, profile: EngineProfile = vllmProfile): ReplicaFit {
  if (isMeasured(profile)) {
    if (!isMeasuredGpu(profile, gpu)) return replicaModel(model, gpu, shape, vllmProfile);
    const engine = measuredOf(profile, { model: model.id, gpu: gpu.id, shape });
    if (engine !== undefined) return { fits: true, replica: measuredReplica(engine) };
    return {
      fits: false,
      reason: `the profile "${profile.name}" has no measurement of ${model.id} on ${gpu.id} at tp ${shape.tp}, pp ${shape.pp}`,
    };
  }
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

/** Whether a profile has engines measured on a GPU: no others are known there. */
const isMeasuredGpu = (profile: EngineProfile, gpu: GpuCard): boolean =>
  isMeasured(profile) && profile.engines.some((engine) => engine.gpu === gpu.id);

/**
 * Shapes of one replica that fit; on a GPU of which the profile has measured engines, the measured ones. Tensor parallelism stays inside a node; a pipeline may cross nodes. Ascending by GPUs, then
 * by pipeline stages; empty when no shape within `maxGpus` holds the model.
 */
export function feasibleShapes(
  model: ModelCard,
  gpu: GpuCard,
  cluster: { readonly gpusPerNode: number; readonly maxGpus: number },
  profile: EngineProfile = vllmProfile,
): readonly ReplicaShape[] {
  const fits = isMeasuredGpu(profile, gpu)
    ? (shape: ReplicaShape): boolean => replicaModel(model, gpu, shape, profile).fits
    : (shape: ReplicaShape): boolean => memoryFit(model, gpu, shape).fits;
  return tensorParallelisms
    .filter((tp) => tp <= cluster.gpusPerNode)
    .flatMap((tp) => pipelineParallelisms.map((pp) => ({ tp, pp })))
    .filter((shape) => shape.tp * shape.pp <= cluster.maxGpus && fits(shape))
    .sort((a, b) => a.tp * a.pp - b.tp * b.pp || a.pp - b.pp);
}

/**
 * The smallest shape that somebody would start by hand: no pipeline of three, which planners choose for what is left of nodes. undefined
 * where none fits.
 */
export const usualShape = (...asked: Parameters<typeof feasibleShapes>): ReplicaShape | undefined =>
  feasibleShapes(...asked).find(({ pp }) => pp !== 3);

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
  return feasibleShapes(model, gpu, cluster, profile).flatMap((shape) => {
    const fit = replicaModel(model, gpu, shape, profile);
    return fit.fits ? [{ gpu: gpu.id, shape, replica: withLimits(fit.replica, cluster.limits ?? {}) }] : [];
  });
}
