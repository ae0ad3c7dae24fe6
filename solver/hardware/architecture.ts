import { z } from "zod";

/** More layers in a decoder are taken as a typing error. */
export const MOST_LAYERS = 1000;

/** A larger width, depth or length is taken as a typing error. */
const count = z.int().min(1).max(100_000_000);

/** Grouped-query attention: `heads` query heads share `kvHeads` pairs of keys and values. */
const groupedQueryAttentionSchema = z.strictObject({
  kind: z.literal("gqa"),
  heads: count,
  kvHeads: count,
  headDim: count,
  /** Biases on the query, key and value projections. */
  qkvBias: z.boolean(),
});

/** Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): the cache holds one compressed vector a token, not keys and values. */
const latentAttentionSchema = z.strictObject({
  kind: z.literal("mla"),
  heads: count,
  /** Width of the compressed query (`q_lora_rank`); null where queries are projected directly. */
  queryRank: count.nullable(),
  /** Width of the cached latent (`kv_lora_rank`). */
  kvRank: count,
  /** Query and key width without and with rotary position (`qk_nope_head_dim`, `qk_rope_head_dim`). */
  nopeDim: count,
  ropeDim: count,
  valueDim: count,
});

/** Gated feed-forward layers, all equal. */
const denseFeedForwardSchema = z.strictObject({ kind: z.literal("dense"), ffn: count });

/** Mixture of experts: each token passes `expertsPerToken` of `experts` gated feed-forward networks of width `expertFfn`. */
const moeFeedForwardSchema = z.strictObject({
  kind: z.literal("moe"),
  experts: count,
  expertsPerToken: count,
  expertFfn: count,
  /** Shared experts that every token passes in addition. */
  shared: z.strictObject({ count, ffn: count }).nullable(),
  /** Layers with an ordinary feed-forward network instead of experts (DeepSeek's first, every other of Llama 4 Maverick). */
  denseLayers: z.strictObject({ count, ffn: count }).nullable(),
});

/**
 * A decoder with gated feed-forward layers, as specified in its configuration file. Impossible values are refused with the field's path:
 * more experts per token than there are, KV heads that groups cannot share evenly.
 */
export const architectureSchema = z
  .strictObject({
    layers: z.int().min(1).max(MOST_LAYERS),
    hidden: count,
    attention: z.discriminatedUnion("kind", [groupedQueryAttentionSchema, latentAttentionSchema]),
    feedForward: z.discriminatedUnion("kind", [denseFeedForwardSchema, moeFeedForwardSchema]),
    vocabulary: count,
    /** One table serves as input embedding and output projection. */
    tiedEmbeddings: z.boolean(),
    /** Norm vectors of `hidden` weights per layer: 2, or 4 where a model also normalises after attention and feed-forward. */
    normsPerLayer: z.int().min(0).max(8),
    /**
     * Share of the layers (0..1) that attend to the last `tokens` tokens only; null where all attend to everything. Memory is counted as if
     * they attended to everything: an upper bound, since engines differ in what they free.
     */
    slidingWindow: z.strictObject({ tokens: count, layersShare: z.number().gt(0).max(1) }).nullable(),
  })
  .superRefine(({ layers, attention, feedForward }, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    if (attention.kind === "gqa" && attention.heads % attention.kvHeads !== 0)
      refuse(["attention", "kvHeads"], `${attention.kvHeads} KV heads do not divide ${attention.heads} query heads`);
    if (feedForward.kind !== "moe") return;
    const { experts, expertsPerToken, denseLayers } = feedForward;
    if (expertsPerToken > experts)
      refuse(["feedForward", "expertsPerToken"], `a token cannot pass ${expertsPerToken} of ${experts} experts`);
    if (denseLayers !== null && denseLayers.count >= layers)
      refuse(["feedForward", "denseLayers", "count"], `${denseLayers.count} dense layers of ${layers} leave none for experts`);
  });

export type Architecture = Readonly<z.infer<typeof architectureSchema>>;

/** One kind of weight matrix, found in `count` of the model's layers. */
export type LinearLayer = {
  readonly name: string;
  readonly role: "projection" | "router" | "feed-forward-in" | "feed-forward-out";
  readonly count: number;
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** Kept whole on every GPU of a tensor-parallel group, as vLLM does with routers and the projections into MLA's latents. */
  readonly replicated: boolean;
} & (
  | { readonly kind: "dense" }
  /** One matrix per expert; a token is multiplied with those of `expertsPerToken`. */
  | { readonly kind: "routed-expert"; readonly experts: number; readonly expertsPerToken: number }
);

/**
 * The weight matrices of the layers that tokens are multiplied with, without embeddings and output projection. Projections that
 * engines fuse (query, key and value; gate and up) are one entry.
 */
export function linearLayers(a: Architecture): readonly LinearLayer[] {
  return [...attentionLayers(a), ...feedForwardLayers(a)];
}

/** Weights of one kind of matrix over all its layers and experts. */
export function layerParams(layer: LinearLayer): number {
  return layer.count * layer.inFeatures * layer.outFeatures * (layer.kind === "routed-expert" ? layer.experts : 1);
}

/** Weights of all linear layers, including every expert: those held in memory. */
export function linearParams(a: Architecture): number {
  return linearLayers(a).reduce((sum, layer) => sum + layerParams(layer), 0);
}

/** Weights of the linear layers that one token is multiplied with: all of a dense model, the chosen experts of a mixture. */
function activeLinearParams(a: Architecture): number {
  return linearLayers(a).reduce(
    (sum, layer) =>
      sum + (layer.kind === "routed-expert" ? (layerParams(layer) / layer.experts) * layer.expertsPerToken : layerParams(layer)),
    0,
  );
}

/** Output projection to the vocabulary. Only tokens that are sampled from pass through it. */
export function outputParams(a: Architecture): number {
  return a.vocabulary * a.hidden;
}

/** All weights: linear layers, biases, norms, embeddings (once if tied, else twice), without norms in attention, some thousand weights. */
export function parameterCount(a: Architecture): number {
  return linearParams(a) + unmultipliedParams(a);
}

/** Weights used by one token, as publishers count "active parameters": without the experts not chosen. */
export function activeParams(a: Architecture): number {
  return activeLinearParams(a) + unmultipliedParams(a);
}

/** Width of one token's queries and values over all heads, averaged: a query-key pair takes `4 * attentionWidth` FLOPs a layer. */
export function attentionWidth({ attention }: Architecture): number {
  return attention.kind === "gqa"
    ? attention.heads * attention.headDim
    : (attention.heads * (attention.nopeDim + attention.ropeDim + attention.valueDim)) / 2;
}

/** Feed-forward values that one token activates, over all layers: of its chosen and shared experts in a mixture. */
export function activatedFfn(a: Architecture): number {
  return linearLayers(a).reduce((sum, layer) => {
    if (layer.role !== "feed-forward-out") return sum;
    return sum + layer.count * layer.inFeatures * (layer.kind === "routed-expert" ? layer.expertsPerToken : 1);
  }, 0);
}

/** Values one token keeps in the cache in one layer: keys and values of all KV heads, or MLA's latent and rotary key. */
export function kvValuesPerLayer({ attention }: Architecture): number {
  return attention.kind === "gqa" ? 2 * attention.kvHeads * attention.headDim : attention.kvRank + attention.ropeDim;
}

/**
 * Number of ways that tp GPUs divide the cache. KV heads fewer than tp are stored more than once; MLA's latent belongs to all heads and is
 * stored completely on every GPU.
 */
export function kvShards({ attention }: Architecture, tp: number): number {
  return attention.kind === "gqa" ? Math.min(tp, attention.kvHeads) : 1;
}

function unmultipliedParams(a: Architecture): number {
  const { attention } = a;
  const biases =
    attention.kind === "gqa" && attention.qkvBias ? a.layers * (attention.heads + 2 * attention.kvHeads) * attention.headDim : 0;
  const norms = (a.normsPerLayer * a.layers + 1) * a.hidden;
  return biases + norms + outputParams(a) * (a.tiedEmbeddings ? 1 : 2);
}

function attentionLayers({ attention, layers: count, hidden }: Architecture): readonly LinearLayer[] {
  if (attention.kind === "gqa") {
    const { heads, kvHeads, headDim } = attention;
    return [
      dense("query, key and value", count, hidden, (heads + 2 * kvHeads) * headDim),
      dense("attention output", count, heads * headDim, hidden),
    ];
  }
  const { heads, queryRank, kvRank, nopeDim, ropeDim, valueDim } = attention;
  const queryWidth = heads * (nopeDim + ropeDim);
  return [
    ...(queryRank === null
      ? [dense("query", count, hidden, queryWidth)]
      : [
          { ...dense("query into latent", count, hidden, queryRank), replicated: true },
          dense("query out of latent", count, queryRank, queryWidth),
        ]),
    { ...dense("key and value into latent", count, hidden, kvRank + ropeDim), replicated: true },
    dense("key and value out of latent", count, kvRank, heads * (nopeDim + valueDim)),
    dense("attention output", count, heads * valueDim, hidden),
  ];
}

function feedForwardLayers({ feedForward, layers, hidden }: Architecture): readonly LinearLayer[] {
  if (feedForward.kind === "dense") return gated("feed-forward", layers, hidden, feedForward.ffn);
  const { experts, expertsPerToken, expertFfn, shared, denseLayers } = feedForward;
  const count = layers - (denseLayers?.count ?? 0);
  const routed = { kind: "routed-expert", experts, expertsPerToken } as const;
  return [
    { ...dense("router", count, hidden, experts), role: "router", replicated: true },
    ...gated("expert", count, hidden, expertFfn).map((layer) => ({ ...layer, ...routed })),
    ...(shared === null ? [] : gated("shared expert", count, hidden, shared.count * shared.ffn)),
    ...(denseLayers === null ? [] : gated("feed-forward", denseLayers.count, hidden, denseLayers.ffn)),
  ];
}

const dense = (name: string, count: number, inFeatures: number, outFeatures: number): LinearLayer => ({
  name,
  role: "projection",
  count,
  inFeatures,
  outFeatures,
  replicated: false,
  kind: "dense",
});

const gated = (name: string, count: number, hidden: number, ffn: number): readonly LinearLayer[] => [
  { ...dense(`${name} gate and up`, count, hidden, 2 * ffn), role: "feed-forward-in" },
  { ...dense(`${name} down`, count, ffn, hidden), role: "feed-forward-out" },
];
