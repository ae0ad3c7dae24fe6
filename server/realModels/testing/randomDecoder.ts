import { seededRandom } from "@/solver/numeric/random";
import { type Decoder, type DecoderConfig, layerShapes, layerTensor, outerShapes } from "../decoder";
import { safetensorsFile } from "../safetensors";
import { sizeOf, type Tensor } from "../tensor";
import { TOKENS } from "../vocabulary";

/** A small decoder of random weights. */
export function randomDecoder(seed: number, layers = 2, kvHeads = 1): Decoder {
  const config: DecoderConfig = {
    model_type: "llama",
    vocab_size: TOKENS.length as 99,
    hidden_size: 8,
    intermediate_size: 12,
    num_hidden_layers: layers,
    num_attention_heads: 2,
    num_key_value_heads: kvHeads,
    head_dim: 4,
    max_position_embeddings: 64,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    tie_word_embeddings: false,
  };
  const random = seededRandom(seed);
  const tensors = new Map<string, Tensor>();
  const fill = (name: string, shape: readonly number[]): void => {
    tensors.set(name, { shape, values: Float32Array.from({ length: sizeOf(shape) }, () => random.normal() / 2) });
  };
  for (const [name, shape] of Object.entries(outerShapes(config))) fill(name, shape);
  for (let layer = 0; layer < layers; layer += 1) {
    for (const [part, shape] of Object.entries(layerShapes(config))) fill(layerTensor(layer, part), shape);
  }
  return { config, tensors };
}

/** The two files of a decoder, as `models/` has them. */
export const decoderFiles = ({ config, tensors }: Decoder) => ({
  configJson: JSON.stringify(config),
  weights: safetensorsFile(tensors),
});
