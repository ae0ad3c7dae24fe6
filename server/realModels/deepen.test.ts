import fc from "fast-check";
import { expect, test } from "vitest";
import { deepened } from "./deepen";
import { llamaLogits } from "./testing/llamaLogits";
import { randomDecoder } from "./testing/randomDecoder";

test("a deepened decoder gives exactly the logits of the trained one, for any weights, text and number of layers", () => {
  const texts = fc.array(fc.integer({ min: 0, max: 98 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 5 }), texts, (seed, layers, extra, text) => {
      const trained = randomDecoder(seed, layers);
      const deep = deepened(trained, extra);
      expect(deep.config.num_hidden_layers).toBe(layers + extra);
      expect(deep.tensors.size).toBe(trained.tensors.size + 9 * extra);
      expect(llamaLogits(deep, text)).toEqual(llamaLogits(trained, text));
    }),
    { numRuns: 30 },
  );
});

test("only the two outputs of a further layer are zero: it does the work of a trained one", () => {
  const deep = deepened(randomDecoder(4), 3);
  const zero = Array.from(deep.tensors).filter(([, { values }]) => values.every((value) => value === 0));
  expect(zero.map(([name]) => name).toSorted()).toEqual(
    [2, 3, 4].flatMap((layer) => ["mlp.down_proj", "self_attn.o_proj"].map((part) => `model.layers.${layer}.${part}.weight`)),
  );
});
