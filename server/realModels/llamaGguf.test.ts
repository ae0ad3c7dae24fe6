import fc from "fast-check";
import { expect, test } from "vitest";
import { llamaGguf } from "./llamaGguf";
import { randomDecoder } from "./testing/randomDecoder";
import { readGguf } from "./testing/readGguf";

test("every tensor of a decoder is in the file once, under llama.cpp's name", () => {
  const decoder = randomDecoder(1, 3);
  const { tensors } = readGguf(llamaGguf("a", decoder));
  const outer = ["output.weight", "output_norm.weight", "token_embd.weight"];
  const parts = ["attn_k", "attn_norm", "attn_output", "attn_q", "attn_v", "ffn_down", "ffn_gate", "ffn_norm", "ffn_up"];
  const layers = [0, 1, 2].flatMap((layer) => parts.map((part) => `blk.${layer}.${part}.weight`));
  expect(Array.from(tensors.keys()).toSorted()).toEqual([...layers, ...outer].toSorted());
  expect(tensors.size).toBe(decoder.tensors.size);
});

test("a rotation of neighbours on the file's queries and keys is the rotation of halves on the decoder's", () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom(1, 2), (seed, kvHeads) => {
      const { config, tensors } = randomDecoder(seed, 1, kvHeads);
      const file = readGguf(llamaGguf("a", { config, tensors }));
      for (const [from, to, heads] of [
        ["q_proj", "attn_q", 2],
        ["k_proj", "attn_k", kvHeads],
      ] as const) {
        const before = tensors.get(`model.layers.0.self_attn.${from}.weight`)!.values;
        const after = file.tensors.get(`blk.0.${to}.weight`)!.values;
        const row = (values: ArrayLike<number>, at: number) => Array.from({ length: 8 }, (_, i) => values[at * 8 + i]);
        for (let head = 0; head < heads; head += 1) {
          // Pair i of a head of width 4: rows i and i + 2 there, rows 2i and 2i + 1 here.
          for (const i of [0, 1]) {
            expect(row(after, 4 * head + 2 * i)).toEqual(row(before, 4 * head + i));
            expect(row(after, 4 * head + 2 * i + 1)).toEqual(row(before, 4 * head + i + 2));
          }
        }
      }
    }),
    { numRuns: 20 },
  );
});

test("the header states the decoder's figures and a token for every character", () => {
  const { header } = readGguf(llamaGguf("arith", randomDecoder(1)));
  expect(Object.fromEntries(header)).toMatchObject({
    "general.architecture": "llama",
    "llama.block_count": 2,
    "llama.attention.head_count": 2,
    "llama.attention.head_count_kv": 1,
    "llama.rope.dimension_count": 4,
    "tokenizer.ggml.bos_token_id": 0,
    "tokenizer.ggml.eos_token_id": 1,
  });
  const tokens = header.get("tokenizer.ggml.tokens") as readonly string[];
  expect(tokens).toHaveLength(99);
  expect([tokens[3], tokens[3 + 16], tokens[98]]).toEqual(["Ġ", "0", "Ċ"]);
});
