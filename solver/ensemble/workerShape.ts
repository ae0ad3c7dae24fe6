import type { ReplicaModel } from "../engine/replicaModel";
import type { EngineProfile } from "../hardware/engineProfile";
import type { GpuCard } from "../hardware/gpus";
import { memoryFit } from "../hardware/memoryFit";
import type { ModelCard } from "../hardware/modelCard";
import { type ReplicaShape, tensorParallelisms } from "../hardware/parallelism";
import { replicaModel } from "../hardware/replicaShapes";

/** An engine of a model on some GPUs. */
export interface ShapedEngine {
  readonly shape: ReplicaShape;
  readonly replica: ReplicaModel;
}

/** Why a model fits no worker of so many GPUs, and of how many it would. */
export interface NoShape {
  readonly reason: string;
  readonly gpusThatFit: readonly number[];
}

/** The one engine that a model has on a worker, all of whose GPUs it takes as one tensor-parallel group. */
export function workerShape(
  model: ModelCard,
  gpu: GpuCard,
  { gpus, profile }: { readonly gpus: number; readonly profile: EngineProfile },
): ({ readonly fits: true } & ShapedEngine) | ({ readonly fits: false } & NoShape) {
  const shape = { tp: gpus, pp: 1 };
  const fit = replicaModel(model, gpu, shape, profile);
  if (fit.fits) return { fits: true, shape, replica: fit.replica };
  const gpusThatFit = tensorParallelisms.filter((tp) => memoryFit(model, gpu, { tp, pp: 1 }).fits);
  return { fits: false, reason: fit.reason, gpusThatFit };
}

/** GPUs that engines of one model may share out among themselves. */
export interface GpuPool {
  readonly gpus: number;
  /** An engine stays within one node. */
  readonly gpusPerNode: number;
  readonly profile: EngineProfile;
}

/**
 * Engines of a model on all of a pool's GPUs: with as much tensor parallelism as divides the model and fits a node, and as many copies as there is then room for.
 *
 * @returns null where it fits with no tensor parallelism.
 */
export function poolShape(
  model: ModelCard,
  gpu: GpuCard,
  { gpus, gpusPerNode, profile }: GpuPool,
): (ShapedEngine & { readonly copies: number }) | null {
  for (const tp of tensorParallelisms.filter((known) => known <= Math.min(gpus, gpusPerNode)).toReversed()) {
    const shape = { tp, pp: 1 };
    const fit = replicaModel(model, gpu, shape, profile);
    if (!fit.fits) continue;
    const copies = Math.floor(gpus / gpusPerNode) * Math.floor(gpusPerNode / tp) + Math.floor((gpus % gpusPerNode) / tp);
    return { shape, replica: fit.replica, copies };
  }
  return null;
}
