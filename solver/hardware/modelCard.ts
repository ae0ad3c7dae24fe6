import type { Provenance } from "@/solver/engine/replicaModel";

/** Bytes of one stored weight. int4 counts its group scales (one 16-bit scale and zero point per 128 weights). */
export const bytesPerWeight = { bf16: 2, fp8: 1, int4: 0.5 + 4 / 128 } as const;

export type Precision = keyof typeof bytesPerWeight;

/** A dense decoder with gated feed-forward layers, as its configuration file states it. */
export interface Architecture {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ffn: number;
  readonly vocabulary: number;
  /** One table serves as input embedding and output projection. */
  readonly tiedEmbeddings: boolean;
  /** Biases on the query, key and value projections. */
  readonly qkvBias: boolean;
  /** Norm vectors of `hidden` weights per layer: 2, or 4 where a model also normalises after attention and feed-forward. */
  readonly normsPerLayer: number;
}

/** One model as it would be served. */
export interface ModelCard {
  readonly id: string;
  /** Repository on Hugging Face; null where the weights are closed. */
  readonly huggingFace: string | null;
  readonly architecture: Architecture;
  readonly precision: Precision;
  /** Bytes of one stored key or value. */
  readonly kvBytesPerValue: number;
  /** Parameters in 10^9, computed from the architecture. */
  readonly paramsB: number;
  /** What the publisher states, in 10^9; null where nothing is stated. */
  readonly publishedParamsB: number | null;
  readonly maxContextTokens: number;
  readonly provenance: Provenance;
}

/** Weights of the linear layers (attention projections and feed-forward): what every token is multiplied with. */
export function linearParams(a: Architecture): number {
  const attention = 2 * a.hidden * a.heads * a.headDim + 2 * a.hidden * a.kvHeads * a.headDim;
  return a.layers * (attention + 3 * a.hidden * a.ffn);
}

/** Output projection to the vocabulary. Only tokens that are sampled from pass through it. */
export function outputParams(a: Architecture): number {
  return a.vocabulary * a.hidden;
}

/** All weights: linear layers, biases, norms, and embeddings (once if tied, else twice). */
export function parameterCount(a: Architecture): number {
  const biases = a.qkvBias ? a.layers * (a.heads + 2 * a.kvHeads) * a.headDim : 0;
  const norms = (a.normsPerLayer * a.layers + 1) * a.hidden;
  return linearParams(a) + biases + norms + outputParams(a) * (a.tiedEmbeddings ? 1 : 2);
}

/** Bytes of the whole model's weights at its precision, over all GPUs of a replica. */
export function weightBytes(card: ModelCard): number {
  return parameterCount(card.architecture) * bytesPerWeight[card.precision];
}

/**
 * Bytes one token occupies in the KV cache, all layers, over all GPUs of a replica. Layers with a sliding window are counted
 * as full ones: an upper bound, and equal below the window.
 */
export function kvBytesPerToken(card: ModelCard): number {
  const { layers, kvHeads, headDim } = card.architecture;
  return 2 * layers * kvHeads * headDim * card.kvBytesPerValue;
}
