import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { GpuCard } from "@/solver/hardware/gpus";
import { memoryFit } from "@/solver/hardware/memoryFit";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { type ReplicaShape, tensorParallelisms } from "@/solver/hardware/parallelism";
import { replicaModel } from "@/solver/hardware/replicaShapes";

/** An engine of a model on some GPUs. */
export interface ShapedEngine {
  readonly shape: ReplicaShape;
  readonly replica: ReplicaModel;
}

/** Why a model fits no worker of so many GPUs, and the number that it needs. */
export interface NoShape {
  readonly reason: string;
  readonly gpusThatFit: readonly number[];
}

/** The only engine of a model on a worker, with all of its GPUs as one tensor-parallel group. */
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

/** Engines of one model that divide GPUs among themselves. */
export interface PoolShape extends ShapedEngine {
  readonly copies: number;
}

/**
 * All ways to divide GPUs among engines of a model: with a tensor parallelism that divides the model and fits a node, and as many copies as
 * there is room for. No engine is on two nodes.
 *
 * @param pool `nodes` has the GPUs of each node.
 * @returns none where it fits with no tensor parallelism.
 */
export function poolShapes(
  model: ModelCard,
  gpu: GpuCard,
  { nodes, profile }: { readonly nodes: readonly number[]; readonly profile: EngineProfile },
): readonly PoolShape[] {
  return tensorParallelisms.flatMap((tp) => {
    const copies = nodes.reduce((sum, gpus) => sum + Math.floor(gpus / tp), 0);
    const shape = { tp, pp: 1 };
    const fit = replicaModel(model, gpu, shape, profile);
    return copies > 0 && fit.fits ? [{ shape, replica: fit.replica, copies }] : [];
  });
}
