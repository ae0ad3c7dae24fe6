import { type Decoder, layerTensor } from "../decoder";

type Vector = Float64Array;

/** The logits of a Llama after each token, straight from its definition (arXiv 2302.13971): slow, and sharing nothing with an engine. */
export function llamaLogits({ config, tensors }: Decoder, tokens: readonly number[]): readonly Vector[] {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim: width, hidden_size: hidden } = config;
  const weights = (name: string): Float32Array => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`no tensor ${name}`);
    return tensor.values;
  };
  const norm = (x: Vector, name: string): Vector => {
    const scale = 1 / Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / x.length + config.rms_norm_eps);
    const gain = weights(name);
    return x.map((value, at) => value * scale * (gain[at] as number));
  };
  const embeddings = weights("model.embed_tokens.weight");
  let states: readonly Vector[] = tokens.map((token) => Float64Array.from(embeddings.subarray(token * hidden, (token + 1) * hidden)));
  for (let layer = 0; layer < config.num_hidden_layers; layer += 1) {
    const matrix = (part: string, x: Vector): Vector => times(weights(layerTensor(layer, part)), x);
    const inputs = states.map((x) => norm(x, layerTensor(layer, "input_layernorm")));
    const queries = inputs.map((x, at) => rotated(matrix("self_attn.q_proj", x), { width, at, theta: config.rope_theta }));
    const keys = inputs.map((x, at) => rotated(matrix("self_attn.k_proj", x), { width, at, theta: config.rope_theta }));
    const values = inputs.map((x) => matrix("self_attn.v_proj", x));
    states = states.map((x, at) => {
      const attended = new Float64Array(heads * width);
      for (let head = 0; head < heads; head += 1) {
        const kv = Math.floor((head * kvHeads) / heads) * width;
        const scores = keys.slice(0, at + 1).map((key) => dot(queries[at] as Vector, head * width, { key, kv, width }) / Math.sqrt(width));
        const most = Math.max(...scores);
        const shares = scores.map((score) => Math.exp(score - most));
        const whole = shares.reduce((sum, share) => sum + share, 0);
        shares.forEach((share, past) => {
          const value = values[past] as Vector;
          for (let i = 0; i < width; i += 1) {
            const to = head * width + i;
            attended[to] = (attended[to] as number) + (share / whole) * (value[kv + i] as number);
          }
        });
      }
      const middle = plus(x, matrix("self_attn.o_proj", attended));
      const input = norm(middle, layerTensor(layer, "post_attention_layernorm"));
      const up = matrix("mlp.up_proj", input);
      const gated = matrix("mlp.gate_proj", input).map((value, i) => (value / (1 + Math.exp(-value))) * (up[i] as number));
      return plus(middle, matrix("mlp.down_proj", gated));
    });
  }
  return states.map((x) => times(weights("lm_head.weight"), norm(x, "model.norm.weight")));
}

function times(matrix: Float32Array, x: Vector): Vector {
  const columns = x.length;
  return Float64Array.from({ length: matrix.length / columns }, (_, row) => {
    let sum = 0;
    for (let column = 0; column < columns; column += 1) sum += (matrix[row * columns + column] as number) * (x[column] as number);
    return sum;
  });
}

/** Element i of each head is rotated together with element i + width / 2, as Hugging Face stores Llamas. */
function rotated(x: Vector, { width, at, theta }: { readonly width: number; readonly at: number; readonly theta: number }): Vector {
  const rotated = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    for (let i = 0; i < width / 2; i += 1) {
      const angle = at / theta ** ((2 * i) / width);
      const [a, b] = [x[start + i] as number, x[start + i + width / 2] as number];
      rotated[start + i] = a * Math.cos(angle) - b * Math.sin(angle);
      rotated[start + i + width / 2] = b * Math.cos(angle) + a * Math.sin(angle);
    }
  }
  return rotated;
}

function dot(
  query: Vector,
  from: number,
  { key, kv, width }: { readonly key: Vector; readonly kv: number; readonly width: number },
): number {
  let sum = 0;
  for (let i = 0; i < width; i += 1) sum += (query[from + i] as number) * (key[kv + i] as number);
  return sum;
}

const plus = (x: Vector, y: Vector): Vector => x.map((value, at) => value + (y[at] as number));
