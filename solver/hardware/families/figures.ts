import type { Provenance } from "@/solver/engine/replicaModel";
import type { Architecture, DenseFeedForward, GroupedQueryAttention } from "../architecture";
import type { ModelCard } from "../modelCard";

/** What a family's table states of a model; `models.ts` makes the card of it. */
export type ModelFigures = Omit<ModelCard, "paramsB" | "kvBytesPerValue" | "precision" | "quantized"> &
  /** Left out: bf16, and every linear layer at the precision. */
  Partial<Pick<ModelCard, "precision" | "quantized">>;

/** What most decoders have in common. */
export const plain = { tiedEmbeddings: false, normsPerLayer: 2, slidingWindow: null } as const satisfies Partial<Architecture>;

/** Grouped-query attention without biases. */
export const gqa = (heads: number, kvHeads: number, headDim: number): GroupedQueryAttention => ({
  kind: "gqa",
  heads,
  kvHeads,
  headDim,
  qkvBias: false,
});

/** The same with biases on queries, keys and values. */
export const gqaWithBias = (heads: number, kvHeads: number, headDim: number): GroupedQueryAttention => ({
  ...gqa(heads, kvHeads, headDim),
  qkvBias: true,
});

export const dense = (ffn: number): DenseFeedForward => ({ kind: "dense", ffn });

export const published = (source: string): Provenance => ({ kind: "published", source });

/** A file of NVIDIA's collection of published configurations. */
export const aiconfigurator = (model: string): Provenance =>
  published(`ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/model_configs/${model}_config.json`);
