import type { Provenance } from "../engine/provenance";
import { type Architecture, kvValuesPerLayer, type LinearLayer, layerParams, linearLayers, parameterCount } from "./architecture";

/**
 * Bytes of one stored weight. int4 includes its group scales (one 16-bit scale and zero point per 128 weights), which is also the size of
 * MXFP4 (one 8-bit scale per 32 weights).
 */
export const bytesPerWeight = { bf16: 2, fp8: 1, int4: 0.5 + 4 / 128 } as const;

export type Precision = keyof typeof bytesPerWeight;

/** One model in the form in which it is served. */
export interface ModelCard {
  readonly id: string;
  /** Repository on Hugging Face; null where the weights are not public. */
  readonly huggingFace: string | null;
  readonly architecture: Architecture;
  readonly precision: Precision;
  /** The matrices in `precision`; all other weights are in bf16. Most checkpoints quantise every linear layer, gpt-oss its experts only. */
  readonly quantized: "linear-layers" | "routed-experts";
  /** Bytes of one stored key or value: 2 in bf16, 1 in fp8. */
  readonly kvBytesPerValue: number;
  /** Parameters in 10^9, computed from the architecture. */
  readonly paramsB: number;
  /** The publisher's figure, in 10^9; null where there is none. */
  readonly publishedParamsB: number | null;
  readonly maxContextTokens: number;
  readonly provenance: Provenance;
}

/** The card served at another precision, its cache in `kvBytesPerValue` bytes (unchanged unless given). */
export function atPrecision(card: ModelCard, precision: Precision, kvBytesPerValue: number = card.kvBytesPerValue): ModelCard {
  return { ...card, precision, kvBytesPerValue };
}

/** Bytes of one weight of this matrix in this card's checkpoint. Routers are small and always kept in bf16. */
export function layerBytesPerWeight(card: ModelCard, layer: LinearLayer): number {
  const kept = layer.role === "router" || (card.quantized === "routed-experts" && layer.kind !== "routed-expert");
  return bytesPerWeight[kept ? "bf16" : card.precision];
}

/**
 * Bytes of the whole model's weights, over all GPUs of a replica. Linear layers at the card's precision; embeddings, output
 * projection, norms and biases in bf16, as quantised checkpoints keep them.
 */
export function weightBytes(card: ModelCard): number {
  const layers = linearLayers(card.architecture);
  const linear = layers.reduce((sum, layer) => sum + layerParams(layer), 0);
  const linearBytes = layers.reduce((sum, layer) => sum + layerParams(layer) * layerBytesPerWeight(card, layer), 0);
  return linearBytes + (parameterCount(card.architecture) - linear) * bytesPerWeight.bf16;
}

/** The part of `weightBytes` that every GPU of a tensor-parallel group holds completely. */
export function replicatedWeightBytes(card: ModelCard): number {
  return linearLayers(card.architecture).reduce(
    (sum, layer) => sum + (layer.replicated ? layerParams(layer) * layerBytesPerWeight(card, layer) : 0),
    0,
  );
}

/**
 * Bytes one token occupies in the KV cache, all layers, over all GPUs of a replica that divide it (see `kvShards`). Layers with a
 * sliding window are counted as full ones: an upper bound, and equal below the window.
 */
export function kvBytesPerToken(card: ModelCard): number {
  return card.architecture.layers * kvValuesPerLayer(card.architecture) * card.kvBytesPerValue;
}
