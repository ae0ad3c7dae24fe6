import { z } from "zod";
import { issueSentence } from "@/server/lib/issueSentence";
import { readSafetensors } from "./safetensors";
import { sizeOf, type Tensor, type Tensors } from "./tensor";
import { TOKENS } from "./vocabulary";

const count = z.int().positive();

const configSchema = z.object({
  model_type: z.literal("llama"),
  vocab_size: z.literal(TOKENS.length),
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count,
  head_dim: count,
  max_position_embeddings: count,
  rms_norm_eps: z.number().positive(),
  rope_theta: z.number().positive(),
  tie_word_embeddings: z.literal(false),
});

/** The figures of a Llama's `config.json` that the other formats repeat. */
export type DecoderConfig = Readonly<z.infer<typeof configSchema>>;

/** A Llama with its weights, under the names that Hugging Face gives them. */
export interface Decoder {
  readonly config: DecoderConfig;
  readonly tensors: Tensors;
}

/** The name of a tensor of one layer. */
export const layerTensor = (layer: number, part: string): string => `model.layers.${layer}.${part}.weight`;

/** Parts of one layer, and the shape of each. */
export function layerShapes(config: DecoderConfig): Readonly<Record<string, readonly number[]>> {
  const { hidden_size: hidden, intermediate_size: inner, head_dim: width } = config;
  const [queries, keys] = [config.num_attention_heads * width, config.num_key_value_heads * width];
  return {
    input_layernorm: [hidden],
    "self_attn.q_proj": [queries, hidden],
    "self_attn.k_proj": [keys, hidden],
    "self_attn.v_proj": [keys, hidden],
    "self_attn.o_proj": [hidden, queries],
    post_attention_layernorm: [hidden],
    "mlp.gate_proj": [inner, hidden],
    "mlp.up_proj": [inner, hidden],
    "mlp.down_proj": [hidden, inner],
  };
}

/** Tensors outside the layers, and the shape of each. */
export const outerShapes = ({ vocab_size: words, hidden_size: hidden }: DecoderConfig): Readonly<Record<string, readonly number[]>> => ({
  "model.embed_tokens.weight": [words, hidden],
  "model.norm.weight": [hidden],
  "lm_head.weight": [words, hidden],
});

/**
 * A decoder from the two files of its folder.
 *
 * @throws RangeError with the fault in a few words: a field, a tensor that is missing or of another shape.
 */
export function readDecoder(configJson: string, weights: Uint8Array): Decoder {
  const config = configSchema.safeParse(JSON.parse(configJson));
  if (!config.success) throw new RangeError(`its config.json: ${issueSentence(config.error)}`);
  const tensors = readSafetensors(weights);
  for (const [name, shape] of expectedShapes(config.data)) {
    const found = tensors.get(name);
    if (found === undefined) throw new RangeError(`its tensor ${name} is missing`);
    if (!hasShape(found, shape)) throw new RangeError(`its tensor ${name} is ${found.shape.join(" x ")}, not ${shape.join(" x ")}`);
  }
  return { config: config.data, tensors };
}

function expectedShapes(config: DecoderConfig): readonly (readonly [string, readonly number[]])[] {
  const parts = Object.entries(layerShapes(config));
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) =>
    parts.map(([part, shape]) => [layerTensor(layer, part), shape] as const),
  );
  return [...Object.entries(outerShapes(config)), ...layers.flat()];
}

const hasShape = ({ shape, values }: Tensor, wanted: readonly number[]): boolean =>
  shape.length === wanted.length && shape.every((size, at) => size === wanted[at]) && values.length === sizeOf(wanted);
