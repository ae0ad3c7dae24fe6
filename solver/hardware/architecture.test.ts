import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Architecture,
  activeParams,
  kvShards,
  kvValuesPerLayer,
  layerParams,
  linearLayers,
  linearParams,
  parameterCount,
} from "./architecture";

const llama8: Architecture = {
  layers: 32,
  hidden: 4096,
  attention: { kind: "gqa", heads: 32, kvHeads: 8, headDim: 128, qkvBias: false },
  feedForward: { kind: "dense", ffn: 14336 },
  vocabulary: 128256,
  tiedEmbeddings: false,
  normsPerLayer: 2,
  slidingWindow: null,
};

const deepSeekV3: Architecture = {
  layers: 61,
  hidden: 7168,
  attention: { kind: "mla", heads: 128, queryRank: 1536, kvRank: 512, nopeDim: 128, ropeDim: 64, valueDim: 128 },
  feedForward: {
    kind: "moe",
    experts: 256,
    expertsPerToken: 8,
    expertFfn: 2048,
    shared: { count: 1, ffn: 2048 },
    denseLayers: { count: 3, ffn: 18432 },
  },
  vocabulary: 129280,
  tiedEmbeddings: false,
  normsPerLayer: 2,
  slidingWindow: null,
};

test("a dense model's parameters are those of its checkpoint, to the last one", () => {
  expect(parameterCount(llama8)).toBe(8_030_261_248);
  expect(activeParams(llama8)).toBe(parameterCount(llama8));
});

test("DeepSeek-V3 has the 671 billion parameters and the 37 billion active ones its makers state", () => {
  expect(parameterCount(deepSeekV3) / 671e9).toBeCloseTo(1, 2);
  expect(activeParams(deepSeekV3) / 37e9).toBeCloseTo(1, 1);
});

test("a mixture's first layers are dense and its experts fill the others", () => {
  const layers = linearLayers(deepSeekV3);
  expect(layers.find(({ name }) => name === "feed-forward down")?.count).toBe(3);
  expect(layers.filter(({ kind }) => kind === "routed-expert").map(({ count }) => count)).toEqual([58, 58]);
});

test("MLA caches its latent and the rotary key once, whatever the number of GPUs", () => {
  expect(61 * kvValuesPerLayer(deepSeekV3) * 2).toBe(70_272);
  expect(kvShards(deepSeekV3, 8)).toBe(1);
  expect([1, 4, 8, 16].map((tp) => kvShards(llama8, tp))).toEqual([1, 4, 8, 8]);
});

const size = fc.integer({ min: 1, max: 512 });
const mixtures = fc.record({
  experts: fc.integer({ min: 1, max: 64 }),
  expertFfn: size,
  hidden: size,
  layers: fc.integer({ min: 1, max: 8 }),
});

test("a mixture of one expert is the dense model plus its routers, and choosing all experts makes all weights active", () => {
  fc.assert(
    fc.property(mixtures, ({ experts, expertFfn, hidden, layers }) => {
      const moe = (count: number): Architecture => ({
        ...llama8,
        layers,
        hidden,
        feedForward: { kind: "moe", experts: count, expertsPerToken: count, expertFfn, shared: null, denseLayers: null },
      });
      const dense: Architecture = { ...llama8, layers, hidden, feedForward: { kind: "dense", ffn: expertFfn } };
      expect(parameterCount(moe(1))).toBe(parameterCount(dense) + layers * hidden);
      expect(activeParams(moe(experts))).toBe(parameterCount(moe(experts)));
    }),
  );
});

test("the listed matrices are all of the linear weights", () => {
  for (const architecture of [llama8, deepSeekV3]) {
    expect(linearLayers(architecture).reduce((sum, layer) => sum + layerParams(layer), 0)).toBe(linearParams(architecture));
  }
});
