import type { Architecture } from "./architecture";
import { MOST_LAYERS } from "./architecture";

/** How one family's configuration differs from a plain decoder. `model_type` names the family. */
export interface Family {
  /** The value of an unwritten `tie_word_embeddings`: the default of the family's class in transformers. */
  readonly tied?: true;
  readonly qkvBias?: true;
  readonly normsPerLayer?: number;
  readonly attention?: (config: Config) => Architecture["attention"];
  readonly feedForward?: (config: Config) => Architecture["feedForward"];
  /** Where neither `layer_types` nor `sliding_window` alone determines which layers have a window. */
  readonly slidingWindow?: (config: Config) => Architecture["slidingWindow"];
}

/** A required field that the configuration lacks, or that is no whole number. */
export class BadField extends Error {}

/** The fields of a configuration, read with their required types. */
export class Config {
  constructor(readonly fields: Readonly<Record<string, unknown>>) {}

  /** @throws BadField when the field is missing or no whole number. */
  count(...names: readonly string[]): number {
    const value = this.optionalCount(...names);
    if (value === null) throw new BadField(`${names.join(" or ")} is missing`);
    return value;
  }

  /** The value of the first of the names that is written; null when none is. */
  optionalCount(...names: readonly string[]): number | null {
    const name = names.find((each) => this.fields[each] !== undefined && this.fields[each] !== null);
    if (name === undefined) return null;
    const value = this.fields[name];
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
      throw new BadField(`${name} is ${JSON.stringify(value)} where a whole number belongs`);
    }
    return value;
  }

  /** @throws BadField also where there are more layers than any model has. */
  layers(): number {
    const layers = this.count("num_hidden_layers");
    if (layers > MOST_LAYERS) throw new BadField(`num_hidden_layers is ${layers}, more than ${MOST_LAYERS}`);
    return layers;
  }

  list(name: string): readonly unknown[] {
    const value = this.fields[name];
    return Array.isArray(value) ? value : [];
  }
}

export const groupedQuery = (config: Config): Architecture["attention"] => {
  const heads = config.count("num_attention_heads");
  return {
    kind: "gqa",
    heads,
    kvHeads: config.optionalCount("num_key_value_heads") ?? heads,
    headDim: config.optionalCount("head_dim") ?? config.count("hidden_size") / heads,
    qkvBias: config.fields.attention_bias === true,
  };
};

const latent = (config: Config): Architecture["attention"] => ({
  kind: "mla",
  heads: config.count("num_attention_heads"),
  queryRank: config.optionalCount("q_lora_rank"),
  kvRank: config.count("kv_lora_rank"),
  nopeDim: config.count("qk_nope_head_dim"),
  ropeDim: config.count("qk_rope_head_dim"),
  valueDim: config.count("v_head_dim"),
});

/** Experts in every layer, each with the width `intermediate_size`. */
const expertsEverywhere = (config: Config): Architecture["feedForward"] => ({
  kind: "moe",
  experts: config.count("num_local_experts"),
  expertsPerToken: config.count("num_experts_per_tok", "experts_per_token"),
  expertFfn: config.count("intermediate_size"),
  shared: null,
  denseLayers: null,
});

const qwenExperts = (config: Config): Architecture["feedForward"] => {
  const layers = config.layers();
  const step = config.optionalCount("decoder_sparse_step") ?? 1;
  const dense = new Set(config.list("mlp_only_layers"));
  const denseLayers = Array.from({ length: layers }, (_, layer) => layer).filter((layer) => dense.has(layer) || (layer + 1) % step !== 0);
  const shared = config.optionalCount("shared_expert_intermediate_size") ?? 0;
  return {
    kind: "moe",
    experts: config.count("num_experts"),
    expertsPerToken: config.count("num_experts_per_tok"),
    expertFfn: config.count("moe_intermediate_size"),
    shared: shared === 0 ? null : { count: 1, ffn: shared },
    denseLayers: denseLayers.length === 0 ? null : { count: denseLayers.length, ffn: config.count("intermediate_size") },
  };
};

const deepSeekExperts = (config: Config): Architecture["feedForward"] => {
  const expertFfn = config.count("moe_intermediate_size");
  const shared = config.optionalCount("n_shared_experts") ?? 0;
  const dense = config.optionalCount("first_k_dense_replace") ?? 0;
  return {
    kind: "moe",
    experts: config.count("n_routed_experts"),
    expertsPerToken: config.count("num_experts_per_tok"),
    expertFfn,
    shared: shared === 0 ? null : { count: shared, ffn: expertFfn },
    denseLayers: dense === 0 ? null : { count: dense, ffn: config.count("intermediate_size") },
  };
};

const llama4Experts = (config: Config): Architecture["feedForward"] => {
  const layers = config.layers();
  const dense = layers - Math.floor(layers / (config.optionalCount("interleave_moe_layer_step") ?? 1));
  const expertFfn = config.count("intermediate_size");
  return {
    kind: "moe",
    experts: config.count("num_local_experts"),
    expertsPerToken: config.count("num_experts_per_tok"),
    expertFfn,
    shared: { count: 1, ffn: expertFfn },
    denseLayers: dense === 0 ? null : { count: dense, ffn: config.count("intermediate_size_mlp") },
  };
};

/** `layer_types` where it is written; else every layer has the window that `sliding_window` names. */
export const statedWindow = (config: Config): Architecture["slidingWindow"] => {
  const tokens = config.optionalCount("sliding_window") ?? 0;
  const types = config.list("layer_types");
  const sliding = types.filter((type) => type === "sliding_attention").length;
  const layersShare = types.length === 0 ? 1 : sliding / types.length;
  return tokens === 0 || layersShare === 0 ? null : { tokens, layersShare };
};

/** Every n-th layer attends to everything, the others to a window. */
const windowBut =
  (period: (config: Config) => number) =>
  (config: Config): Architecture["slidingWindow"] => {
    const tokens = config.optionalCount("sliding_window") ?? 0;
    if (tokens === 0 || config.list("layer_types").length > 0) return statedWindow(config);
    const layers = config.layers();
    return { tokens, layersShare: (layers - Math.floor(layers / period(config))) / layers };
  };

/** Qwen names a window in every file and uses it only where `use_sliding_window` is true, above `max_window_layers`. */
const qwenWindow = (config: Config): Architecture["slidingWindow"] => {
  if (config.fields.use_sliding_window !== true) return null;
  if (config.list("layer_types").length > 0) return statedWindow(config);
  const layers = config.layers();
  const layersShare = (layers - (config.optionalCount("max_window_layers") ?? 0)) / layers;
  return layersShare > 0 ? { tokens: config.count("sliding_window"), layersShare } : null;
};

const qwen: Family = { slidingWindow: qwenWindow };
const deepSeek: Family = { attention: latent, feedForward: deepSeekExperts };

/** Families by the `model_type` of their `config.json`. */
export const families: Readonly<Record<string, Family>> = {
  llama: {},
  mistral: {},
  phi3: {},
  qwen2: { ...qwen, qkvBias: true },
  qwen2_moe: { ...qwen, qkvBias: true, feedForward: qwenExperts },
  qwen3: qwen,
  qwen3_moe: { ...qwen, feedForward: qwenExperts },
  gemma: { tied: true },
  gemma2: { tied: true, normsPerLayer: 4, slidingWindow: windowBut(() => 2) },
  gemma3_text: { tied: true, normsPerLayer: 4, slidingWindow: windowBut((config) => config.optionalCount("sliding_window_pattern") ?? 6) },
  mixtral: { feedForward: expertsEverywhere },
  minimax_m2: { feedForward: expertsEverywhere },
  gpt_oss: { feedForward: expertsEverywhere },
  // Three layers of four attend within chunks; the fourth, without rotary positions, attends to everything.
  llama4_text: {
    feedForward: llama4Experts,
    slidingWindow: (config) => {
      const tokens = config.optionalCount("attention_chunk_size") ?? 0;
      return tokens === 0 ? null : { tokens, layersShare: 0.75 };
    },
  },
  deepseek_v2: deepSeek,
  deepseek_v3: deepSeek,
  kimi_k2: deepSeek,
};
