import { type Decoder, layerShapes, layerTensor } from "./decoder";
import type { Tensor } from "./tensor";

/** What a layer adds to the residual stream: attention's and the feed-forward network's output. */
const OUTPUTS: readonly string[] = ["self_attn.o_proj", "mlp.down_proj"];

/**
 * A decoder with more layers and the same answers: each further layer repeats a trained one, but its two output projections are zero, so
 * it adds nothing to the residual stream and costs what a trained layer costs.
 */
export function deepened({ config, tensors }: Decoder, extraLayers: number): Decoder {
  const trained = config.num_hidden_layers;
  const added = new Map<string, Tensor>();
  for (let layer = trained; layer < trained + extraLayers; layer += 1) {
    for (const part of Object.keys(layerShapes(config))) {
      const source = tensors.get(layerTensor(layer % trained, part));
      if (source === undefined) continue;
      const values = OUTPUTS.includes(part) ? new Float32Array(source.values.length) : source.values;
      added.set(layerTensor(layer, part), { shape: source.shape, values });
    }
  }
  return { config: { ...config, num_hidden_layers: trained + extraLayers }, tensors: new Map([...tensors, ...added]) };
}
