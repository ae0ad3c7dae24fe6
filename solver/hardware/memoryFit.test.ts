import fc from "fast-check";
import { expect, test } from "vitest";
import { gpuCards } from "./gpus";
import { MIN_KV_TOKENS, memoryFit } from "./memoryFit";
import { modelCards } from "./models";
import { feasibleShapes, replicaModel, usualShape } from "./replicaShapes";

const h100 = gpuCards["h100-sxm"]!;
const l4 = gpuCards.l4!;
const model = (id: string) => modelCards[id]!;
const kvTokens = (id: string, tp: number, pp = 1): number => {
  const fit = memoryFit(model(id), h100, { tp, pp });
  return fit.fits ? fit.kvTokens : 0;
};

test("Llama-3.1-8B on one H100 has room for the KV tokens the formula gives by hand", () => {
  const byHand = (0.9 * 85_899_345_920 - 2 * 8_030_261_248 - 2.5e9) / 131_072;
  expect(kvTokens("llama-3.1-8b", 1)).toBe(Math.floor(byHand));
});

test("Llama-3.1-70B in bf16 does not fit one H100, and the reason names what it needs and the way out", () => {
  const fit = memoryFit(model("llama-3.1-70b"), h100, { tp: 1, pp: 1 });
  expect(fit).toMatchObject({ fits: false, reason: expect.stringMatching(/141\.1 GB of weights on each h100-sxm.*use more GPUs/) });
});

test("Llama-3.1-405B in fp8 needs eight H100 of a node, or six of them in a pipeline of three", () => {
  const cluster = { gpusPerNode: 8, maxGpus: 8 };
  const shapes = feasibleShapes(model("llama-3.1-405b-fp8"), h100, cluster);
  expect(shapes[0]).toEqual({ tp: 2, pp: 3 });
  expect(shapes.slice(1).every((shape) => shape.tp * shape.pp === 8)).toBe(true);
  expect(usualShape(model("llama-3.1-405b-fp8"), h100, cluster)).toEqual({ tp: 8, pp: 1 });
});

test("tensor parallelism that does not divide the attention heads is refused with both numbers", () => {
  const fit = memoryFit(model("qwen2.5-7b"), h100, { tp: 8, pp: 1 });
  expect(fit).toEqual({ fits: false, reason: "tp 8 does not divide the 28 attention heads of qwen2.5-7b" });
});

test("a model with one KV head stores it on every GPU of a tensor-parallel replica", () => {
  const one = kvTokens("gemma-2b", 1);
  const two = kvTokens("gemma-2b", 2);
  expect(two / one).toBeLessThan(1.1);
});

test("a larger share of the memory gives a larger cache, and the default share is the engines'", () => {
  const at = (share?: number) => {
    const fit = memoryFit(model("llama-3.1-8b"), h100, { tp: 1, pp: 1 }, share);
    return fit.fits ? fit.kvTokens : 0;
  };
  expect(at(0.9)).toBe(at());
  expect(at(0.95) - at(0.9)).toBeCloseTo((0.05 * h100.memoryBytes) / 131_072, -1);
});

test("DeepSeek-V3 in fp8 overflows eight H100 and fits eight H200, each of which holds the whole latent cache", () => {
  const shape = { tp: 8, pp: 1 };
  expect(memoryFit(model("deepseek-v3"), h100, shape)).toMatchObject({
    fits: false,
    reason: expect.stringContaining("GB of weights on each"),
  });
  const fit = memoryFit(model("deepseek-v3"), gpuCards["h200-sxm"]!, shape);
  expect(fit.fits && fit.kvTokens).toBe(fit.fits && Math.floor(fit.kvBytesPerGpu / 70_272));
});

test("experts are divided in width, and a width that does not divide is refused by name", () => {
  const odd = model("qwen3-30b-a3b");
  const moe = odd.architecture.feedForward;
  if (moe.kind !== "moe") throw new Error("a mixture was expected");
  const card = { ...odd, architecture: { ...odd.architecture, feedForward: { ...moe, expertFfn: 766 } } };
  expect(memoryFit(card, h100, { tp: 4, pp: 1 })).toEqual({
    fits: false,
    reason: "tp 4 does not divide the expert width 766 of qwen3-30b-a3b",
  });
});

test("more GPUs per replica never leave less room for the cache", () => {
  const ids = fc.constantFrom(...Object.keys(modelCards));
  const gpu = fc.constantFrom(...Object.values(gpuCards));
  fc.assert(
    fc.property(ids, gpu, fc.constantFrom(1, 2, 4), fc.constantFrom(1, 2, 4), (id, card, tp, pp) => {
      const small = memoryFit(model(id), card, { tp, pp });
      const deep = memoryFit(model(id), card, { tp, pp: pp * 2 });
      if (!small.fits) return;
      expect(small.kvTokens).toBeGreaterThanOrEqual(MIN_KV_TOKENS);
      expect(deep.fits && deep.kvTokens >= small.kvTokens).toBe(true);
    }),
  );
});

test("shapes never put tensor parallelism across nodes, never exceed the GPUs, and all fit", () => {
  const cluster = { gpusPerNode: 4, maxGpus: 16 };
  for (const card of Object.values(modelCards)) {
    for (const shape of feasibleShapes(card, l4, cluster)) {
      expect(shape.tp).toBeLessThanOrEqual(cluster.gpusPerNode);
      expect(shape.tp * shape.pp).toBeLessThanOrEqual(cluster.maxGpus);
      expect(replicaModel(card, l4, shape).fits).toBe(true);
    }
  }
});

test("every model of the shipped ladders fits 32 H100 in some shape", () => {
  const homeless = Object.values(modelCards).filter((card) => feasibleShapes(card, h100, { gpusPerNode: 8, maxGpus: 32 }).length === 0);
  expect(homeless.map((card) => card.id)).toEqual([]);
});

test("a card smaller than what an engine takes besides weights is refused by how much it lacks, never by a negative amount", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e8, max: 4e9, noNaN: true }), fc.constantFrom(...Object.keys(modelCards)), (memoryBytes, id) => {
      const fit = memoryFit(model(id), { ...h100, id: "small-card", memoryBytes }, { tp: 1, pp: 1 });
      if (!fit.fits) expect(fit.reason).not.toMatch(/[-−]\d+\.\d GB/);
    }),
  );
  const fit = memoryFit(model("llama-3.1-8b"), { ...h100, id: "small-card", memoryBytes: 2e9 }, { tp: 1, pp: 1 });
  expect(fit).toEqual({
    fits: false,
    reason: "small-card is 0.7 GB too small for any model: an engine may take 1.8 GB of it and needs 2.5 GB besides weights and KV cache",
  });
});

test("weights that do not fit are refused with the amount by which they are too large", () => {
  const fit = memoryFit(model("llama-3.1-70b"), h100, { tp: 1, pp: 1 });
  expect(fit).toMatchObject({ fits: false, reason: expect.stringContaining("66.3 GB more than the 74.8 GB it has for them") });
});
