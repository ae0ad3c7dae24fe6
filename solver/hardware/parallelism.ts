import type { ModelCard } from "./modelCard";

/** How one replica's engine is spread over GPUs: each of `pp` pipeline stages is `tp` GPUs that share its layers' weights. */
export interface ReplicaShape {
  readonly tp: number;
  readonly pp: number;
}

/** Tensor parallelism in use: powers of two up to the eight GPUs of a node. */
export const tensorParallelisms = [1, 2, 4, 8] as const;

/** Pipeline depths in use: beyond eight stages sends and imbalance eat what a stage more would give. */
export const pipelineParallelisms = [1, 2, 4, 8] as const;

/** Share of all layers on the fullest pipeline stage: 1/pp, or a little more when the layers do not divide evenly. */
export function largestStageShare(model: ModelCard, shape: ReplicaShape): number {
  const { layers } = model.architecture;
  return Math.ceil(layers / shape.pp) / layers;
}

/** Why the model cannot be divided like this, or null when it can. */
export function shapeRefusal(model: ModelCard, shape: ReplicaShape): string | null {
  const { layers, heads, kvHeads, ffn } = model.architecture;
  const { tp, pp } = shape;
  if (!tensorParallelisms.some((known) => known === tp)) return `tp ${tp} is not one of ${tensorParallelisms.join(", ")}`;
  if (!Number.isInteger(pp) || pp < 1 || pp > layers) return `pp ${pp} is not between 1 and the ${layers} layers of ${model.id}`;
  if (heads % tp !== 0) return `tp ${tp} does not divide the ${heads} attention heads of ${model.id}`;
  if (kvHeads % tp !== 0 && tp % kvHeads !== 0) return `tp ${tp} neither divides nor repeats the ${kvHeads} KV heads of ${model.id}`;
  if (ffn % tp !== 0) return `tp ${tp} does not divide the feed-forward width ${ffn} of ${model.id}`;
  return null;
}
