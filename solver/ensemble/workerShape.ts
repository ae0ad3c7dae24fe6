import type { EngineProfile } from "../hardware/engineProfile";
import type { GpuCard } from "../hardware/gpus";
import type { ModelCard } from "../hardware/modelCard";
import { type ReplicaShape, tensorParallelisms } from "../hardware/parallelism";
import { type ReplicaFit, replicaModel } from "../hardware/replicaShapes";

export type ShapedFit = {
  readonly fits: true;
  readonly shape: ReplicaShape;
  readonly replica: Extract<ReplicaFit, { fits: true }>["replica"];
};

/**
 * The one engine that a model has on a worker's GPUs, all of which it takes: of the shapes that fit, the one of the most tensor parallelism.
 *
 * @returns why it fits in none, naming model, GPU and what would do.
 */
export function workerShape(
  model: ModelCard,
  gpu: GpuCard,
  { gpus, profile }: { readonly gpus: number; readonly profile: EngineProfile },
): ShapedFit | { readonly fits: false; readonly reason: string } {
  let reason = `${gpus} GPUs are no whole number of pipeline stages`;
  for (const tp of tensorParallelisms.filter((known) => gpus % known === 0).toReversed()) {
    const shape = { tp, pp: gpus / tp };
    const fit = replicaModel(model, gpu, shape, profile);
    if (fit.fits) return { fits: true, shape, replica: fit.replica };
    reason = fit.reason;
  }
  return { fits: false, reason };
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
): (ShapedFit & { readonly copies: number }) | null {
  for (const tp of tensorParallelisms.filter((known) => known <= Math.min(gpus, gpusPerNode)).toReversed()) {
    const shape = { tp, pp: 1 };
    const fit = replicaModel(model, gpu, shape, profile);
    if (!fit.fits) continue;
    const copies = Math.floor(gpus / gpusPerNode) * Math.floor(gpusPerNode / tp) + Math.floor((gpus % gpusPerNode) / tp);
    return { fits: true, shape, replica: fit.replica, copies };
  }
  return null;
}
