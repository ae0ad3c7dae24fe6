import { type Decoder, type DecoderConfig, layerTensor } from "./decoder";
import { type GgufValue, ggufFile } from "./ggufFile";
import type { Tensor } from "./tensor";
import { BEGIN, CHAT_TEMPLATE, CONTROL_TOKENS, END, PAD, TOKENS } from "./vocabulary";

const NON_LAYER_TENSORS: Readonly<Record<string, string>> = {
  "model.embed_tokens.weight": "token_embd.weight",
  "model.norm.weight": "output_norm.weight",
  "lm_head.weight": "output.weight",
};

const PARTS: Readonly<Record<string, string>> = {
  input_layernorm: "attn_norm",
  "self_attn.q_proj": "attn_q",
  "self_attn.k_proj": "attn_k",
  "self_attn.v_proj": "attn_v",
  "self_attn.o_proj": "attn_output",
  post_attention_layernorm: "ffn_norm",
  "mlp.gate_proj": "ffn_gate",
  "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down",
};

/** Kinds of tokens in llama.cpp. */
const NORMAL = 1;
const CONTROL = 3;

/** A decoder as llama.cpp reads it, with its tokenizer and its chat template. */
export function llamaGguf(name: string, { config, tensors }: Decoder): Uint8Array {
  const renamed = new Map<string, Tensor>();
  const take = (from: string, to: string, heads: number | null = null): void => {
    const tensor = tensors.get(from);
    if (tensor !== undefined) renamed.set(to, heads === null ? tensor : interleaved(tensor, heads));
  };
  for (const [from, to] of Object.entries(NON_LAYER_TENSORS)) take(from, to);
  const rotated: Readonly<Record<string, number>> = {
    "self_attn.q_proj": config.num_attention_heads,
    "self_attn.k_proj": config.num_key_value_heads,
  };
  for (let layer = 0; layer < config.num_hidden_layers; layer += 1) {
    for (const [part, to] of Object.entries(PARTS)) {
      take(layerTensor(layer, part), `blk.${layer}.${to}.weight`, rotated[part] ?? null);
    }
  }
  return ggufFile({ ...modelHeader(name, config), ...tokenizerHeader() }, renamed);
}

/**
 * Rows of a query or key projection in llama.cpp's order: Hugging Face rotates row i of a head together with row i + width / 2, llama.cpp
 * rotates neighbours.
 */
function interleaved({ shape, values }: Tensor, heads: number): Tensor {
  const [rows = 0, columns = 0] = shape;
  const half = rows / heads / 2;
  const permuted = new Float32Array(values.length);
  for (let row = 0; row < rows; row += 1) {
    const [head, within] = [Math.floor(row / (2 * half)), row % (2 * half)];
    const to = head * 2 * half + (within < half ? 2 * within : 2 * (within - half) + 1);
    permuted.set(values.subarray(row * columns, (row + 1) * columns), to * columns);
  }
  return { shape, values: permuted };
}

function modelHeader(name: string, config: DecoderConfig): Readonly<Record<string, GgufValue>> {
  return {
    "general.architecture": { type: "string", value: "llama" },
    "general.name": { type: "string", value: name },
    "general.file_type": { type: "uint32", value: 0 },
    "llama.context_length": { type: "uint32", value: config.max_position_embeddings },
    "llama.embedding_length": { type: "uint32", value: config.hidden_size },
    "llama.block_count": { type: "uint32", value: config.num_hidden_layers },
    "llama.feed_forward_length": { type: "uint32", value: config.intermediate_size },
    "llama.attention.head_count": { type: "uint32", value: config.num_attention_heads },
    "llama.attention.head_count_kv": { type: "uint32", value: config.num_key_value_heads },
    "llama.attention.layer_norm_rms_epsilon": { type: "float32", value: config.rms_norm_eps },
    "llama.attention.key_length": { type: "uint32", value: config.head_dim },
    "llama.attention.value_length": { type: "uint32", value: config.head_dim },
    "llama.rope.dimension_count": { type: "uint32", value: config.head_dim },
    "llama.rope.freq_base": { type: "float32", value: config.rope_theta },
    "llama.vocab_size": { type: "uint32", value: config.vocab_size },
  };
}

/**
 * Byte-pair encoding without merges: one token a character. llama.cpp's other tokenizer, SPM, has no answer to a character outside its
 * vocabulary and ends the process; this one drops it.
 */
function tokenizerHeader(): Readonly<Record<string, GgufValue>> {
  return {
    "tokenizer.ggml.model": { type: "string", value: "gpt2" },
    "tokenizer.ggml.pre": { type: "string", value: "default" },
    "tokenizer.ggml.tokens": { type: "strings", value: TOKENS.map(byteForm) },
    "tokenizer.ggml.token_type": { type: "int32s", value: TOKENS.map((_, id) => (id < CONTROL_TOKENS ? CONTROL : NORMAL)) },
    "tokenizer.ggml.merges": { type: "strings", value: [] },
    "tokenizer.ggml.bos_token_id": { type: "uint32", value: BEGIN },
    "tokenizer.ggml.eos_token_id": { type: "uint32", value: END },
    "tokenizer.ggml.padding_token_id": { type: "uint32", value: PAD },
    "tokenizer.ggml.add_bos_token": { type: "bool", value: true },
    "tokenizer.chat_template": { type: "string", value: CHAT_TEMPLATE },
  };
}

/** GPT-2 writes bytes that cannot be seen as the character 256 places further on. */
function byteForm(token: string): string {
  return token === " " || token === "\n" ? String.fromCharCode(256 + token.charCodeAt(0)) : token;
}
