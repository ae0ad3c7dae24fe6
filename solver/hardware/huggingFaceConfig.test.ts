import fc from "fast-check";
import { expect, test } from "vitest";
import { type ConfigReading, parseHuggingFaceConfig } from "./huggingFaceConfig";
import { modelCards } from "./models";

/** The fields of each `config.json` that matter for a card, as published. */
const llama = {
  model_type: "llama",
  _name_or_path: "meta-llama/Llama-3.1-8B-Instruct",
  hidden_size: 4096,
  intermediate_size: 14336,
  max_position_embeddings: 131072,
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  tie_word_embeddings: false,
  vocab_size: 128256,
};

const qwen2 = {
  ...llama,
  model_type: "qwen2",
  hidden_size: 3584,
  intermediate_size: 18944,
  num_attention_heads: 28,
  num_hidden_layers: 28,
  num_key_value_heads: 4,
  vocab_size: 152064,
  sliding_window: 131072,
  use_sliding_window: false,
};

const gemma2 = {
  model_type: "gemma2",
  head_dim: 256,
  hidden_size: 3584,
  intermediate_size: 14336,
  max_position_embeddings: 8192,
  num_attention_heads: 16,
  num_hidden_layers: 42,
  num_key_value_heads: 8,
  sliding_window: 4096,
  vocab_size: 256000,
};

const mixtral = { ...llama, model_type: "mixtral", num_experts_per_tok: 2, num_local_experts: 8, vocab_size: 32000, sliding_window: null };

const qwen3Moe = {
  model_type: "qwen3_moe",
  decoder_sparse_step: 1,
  head_dim: 128,
  hidden_size: 2048,
  intermediate_size: 6144,
  max_position_embeddings: 40960,
  mlp_only_layers: [],
  moe_intermediate_size: 768,
  num_attention_heads: 32,
  num_experts: 128,
  num_experts_per_tok: 8,
  num_hidden_layers: 48,
  num_key_value_heads: 4,
  tie_word_embeddings: false,
  vocab_size: 151936,
  quantization_config: {
    quant_method: "fp8",
    weight_block_size: [128, 128],
    modules_to_not_convert: ["lm_head", "model.layers.0.mlp.gate"],
  },
};

const deepSeekV3 = {
  model_type: "deepseek_v3",
  first_k_dense_replace: 3,
  hidden_size: 7168,
  intermediate_size: 18432,
  kv_lora_rank: 512,
  max_position_embeddings: 163840,
  moe_intermediate_size: 2048,
  n_routed_experts: 256,
  n_shared_experts: 1,
  num_attention_heads: 128,
  num_experts_per_tok: 8,
  num_hidden_layers: 61,
  num_key_value_heads: 128,
  q_lora_rank: 1536,
  qk_nope_head_dim: 128,
  qk_rope_head_dim: 64,
  tie_word_embeddings: false,
  v_head_dim: 128,
  vocab_size: 129280,
  quantization_config: { quant_method: "fp8" },
};

const gptOss = {
  model_type: "gpt_oss",
  attention_bias: true,
  head_dim: 64,
  hidden_size: 2880,
  intermediate_size: 2880,
  layer_types: Array.from({ length: 24 }, (_, layer) => (layer % 2 === 0 ? "sliding_attention" : "full_attention")),
  max_position_embeddings: 131072,
  num_attention_heads: 64,
  num_experts_per_tok: 4,
  num_hidden_layers: 24,
  num_key_value_heads: 8,
  num_local_experts: 32,
  sliding_window: 128,
  vocab_size: 201088,
  quantization_config: {
    quant_method: "mxfp4",
    modules_to_not_convert: ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"],
  },
};

const llama4 = {
  model_type: "llama4",
  text_config: {
    model_type: "llama4_text",
    attention_chunk_size: 8192,
    head_dim: 128,
    hidden_size: 5120,
    interleave_moe_layer_step: 2,
    intermediate_size: 8192,
    intermediate_size_mlp: 16384,
    max_position_embeddings: 1048576,
    num_attention_heads: 40,
    num_experts_per_tok: 1,
    num_hidden_layers: 48,
    num_key_value_heads: 8,
    num_local_experts: 128,
    vocab_size: 202048,
  },
};

const gemma3 = {
  model_type: "gemma3",
  text_config: {
    model_type: "gemma3_text",
    head_dim: 256,
    hidden_size: 3840,
    intermediate_size: 15360,
    max_position_embeddings: 131072,
    num_attention_heads: 16,
    num_hidden_layers: 48,
    num_key_value_heads: 8,
    sliding_window: 1024,
    vocab_size: 262144,
  },
};

const read = (json: unknown): Extract<ConfigReading, { ok: true }> => {
  const reading = parseHuggingFaceConfig(json);
  if (!reading.ok) throw new Error(reading.message);
  return reading;
};

const message = (json: unknown): string => {
  const reading = parseHuggingFaceConfig(json);
  return reading.ok ? "it was read" : reading.message;
};

test.each([
  ["llama-3.1-8b", llama],
  ["qwen2.5-7b", qwen2],
  ["gemma-2-9b", gemma2],
  ["gemma-3-12b", gemma3],
  ["mixtral-8x7b", mixtral],
  ["qwen3-30b-a3b-fp8", qwen3Moe],
  ["deepseek-v3", deepSeekV3],
  ["gpt-oss-20b", gptOss],
  ["llama-4-maverick", llama4],
])("the published configuration of %s gives the shipped card's architecture and precision", (id, json) => {
  const card = modelCards[id];
  const { architecture, precision, quantized } = read(json);
  expect({ architecture, precision, quantized }).toEqual({
    architecture: card?.architecture,
    precision: card?.precision,
    quantized: card?.quantized,
  });
});

test("the repository is taken where the file names it, and what is not a decoder is said to be left out", () => {
  expect(read(llama)).toMatchObject({ huggingFace: "meta-llama/Llama-3.1-8B-Instruct", maxContextTokens: 131072, notes: [] });
  expect(read({ ...llama, _name_or_path: "/data/checkpoint" }).huggingFace).toBeNull();
  expect(read(llama4).notes).toEqual([expect.stringContaining("text decoder")]);
});

test("an architecture that is not supported is named, and so are those that are", () => {
  expect(message({ ...llama, model_type: "mamba2" })).toMatch(/^The architecture "mamba2" is not supported; supported are llama, mistral/);
  expect(message({ ...llama, model_type: "constructor" })).toContain('"constructor" is not supported');
  expect(message({ hidden_size: 8 })).toContain("no model_type");
  expect(message([1, 2])).toContain("no config.json");
  expect(message("llama")).toContain("no config.json");
});

test("a field that is missing or no whole number is named with what it says", () => {
  const { vocab_size: _, ...without } = llama;
  expect(message(without)).toBe("In the config of llama, vocab_size is missing.");
  expect(message({ ...llama, hidden_size: "big" })).toBe('In the config of llama, hidden_size is "big" where a whole number belongs.');
  expect(message({ ...qwen3Moe, num_hidden_layers: 1e12 })).toContain("more than 1000");
  expect(message({ ...llama, num_key_value_heads: 5 })).toContain("5 KV heads do not divide 32 query heads");
  expect(message({ ...mixtral, num_experts_per_tok: 9 })).toContain("9 of 8 experts");
});

test("quantised weights are read at the precision stated, and a method without one is refused by name", () => {
  const precisionOf = (quantization_config: unknown) => read({ ...llama, quantization_config }).precision;
  const packed = (weights: object) => ({ quant_method: "compressed-tensors", config_groups: { group_0: { weights } } });
  expect(precisionOf({ quant_method: "awq", bits: 4 })).toBe("int4");
  expect(precisionOf({ quant_method: "gptq", bits: 4 })).toBe("int4");
  expect(precisionOf({ quant_method: "fbgemm_fp8", modules_to_not_convert: ["model.layers.0.self_attn.q_proj"] })).toBe("fp8");
  expect(precisionOf(packed({ num_bits: 8, type: "float" }))).toBe("fp8");
  expect(precisionOf(packed({ num_bits: 4, type: "int" }))).toBe("int4");
  expect(message({ ...llama, quantization_config: { quant_method: "gptq", bits: 8 } })).toContain(
    'quantised by "gptq" have no card precision',
  );
  expect(message({ ...llama, quantization_config: packed({ num_bits: 8, type: "int" }) })).toContain("no card precision");
});

test("a dense checkpoint that leaves some attention unquantised does not pass for one whose experts alone are", () => {
  const stated = { quant_method: "fbgemm_fp8", modules_to_not_convert: ["model.layers.0.self_attn.q_proj"] };
  expect(read({ ...llama, quantization_config: stated }).quantized).toBe("linear-layers");
});

test("whatever JSON is pasted, it is read or refused in one sentence, and never thrown at", () => {
  const fields = fc.record(Object.fromEntries(Object.keys(qwen3Moe).map((name) => [name, fc.jsonValue()])), { requiredKeys: [] });
  const known = fc.constantFrom(llama, qwen2, gemma2, mixtral, qwen3Moe, deepSeekV3, gptOss, llama4);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue(),
        fc.tuple(known, fields).map(([config, odd]) => ({ ...config, ...odd, model_type: config.model_type })),
      ),
      (json) => {
        const reading = parseHuggingFaceConfig(json);
        expect(reading.ok || /^[A-Z].*\.$/s.test(reading.message)).toBe(true);
      },
    ),
  );
});
