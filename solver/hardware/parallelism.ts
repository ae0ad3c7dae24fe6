import type { Architecture } from "./architecture";
import type { ModelCard } from "./modelCard";

/** The distribution of one replica's engine over GPUs: each of `pp` pipeline stages is `tp` GPUs that share its layers' weights. */
export interface ReplicaShape {
  readonly tp: number;
  readonly pp: number;
}

/** Tensor parallelism in use: powers of two up to the eight GPUs of a node. */
export const tensorParallelisms = [1, 2, 4, 8] as const;

/**
 * Pipeline depths in use: beyond eight stages sends and imbalance cancel the gain of another stage. Three is among them because it lets a
 * model have 12 GPUs of a node and a half (Cascadia, table 3: TP 4 x PP 3).
 */
export const pipelineParallelisms = [1, 2, 3, 4, 8] as const;

/** Share of all layers on the fullest pipeline stage: 1/pp, or a little more when the layers do not divide evenly. */
export function largestStageShare(model: ModelCard, shape: ReplicaShape): number {
  const { layers } = model.architecture;
  return Math.ceil(layers / shape.pp) / layers;
}

/** Why the model cannot be divided like this, or null when it can. */
export function shapeRefusal(model: ModelCard, shape: ReplicaShape): string | null {
  const { layers, attention, feedForward } = model.architecture;
  const { tp, pp } = shape;
  if (!tensorParallelisms.some((known) => known === tp)) return `tp ${tp} is not one of ${tensorParallelisms.join(", ")}`;
  if (!Number.isInteger(pp) || pp < 1 || pp > layers) return `pp ${pp} is not between 1 and the ${layers} layers of ${model.id}`;
  if (attention.heads % tp !== 0) return `tp ${tp} does not divide the ${attention.heads} attention heads of ${model.id}`;
  if (attention.kind === "gqa" && attention.kvHeads % tp !== 0 && tp % attention.kvHeads !== 0)
    return `tp ${tp} neither divides nor repeats the ${attention.kvHeads} KV heads of ${model.id}`;
  const undivided = feedForwardWidths(feedForward).find(({ width }) => width % tp !== 0);
  return undivided === undefined ? null : `tp ${tp} does not divide the ${undivided.name} ${undivided.width} of ${model.id}`;
}

/** Widths that tensor parallelism divides. Experts are divided in width too, each GPU holding a slice of every one. */
function feedForwardWidths(feedForward: Architecture["feedForward"]): readonly { readonly name: string; readonly width: number }[] {
  if (feedForward.kind === "dense") return [{ name: "feed-forward width", width: feedForward.ffn }];
  const { expertFfn, shared, denseLayers } = feedForward;
  return [
    { name: "expert width", width: expertFfn },
    ...(shared === null ? [] : [{ name: "shared experts' width", width: shared.count * shared.ffn }]),
    ...(denseLayers === null ? [] : [{ name: "feed-forward width", width: denseLayers.ffn }]),
  ];
}
