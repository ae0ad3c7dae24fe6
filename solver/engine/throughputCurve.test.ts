import fc from "fast-check";
import { expect, test } from "vitest";
import { gpuCards } from "../hardware/gpus";
import { modelCards } from "../hardware/models";
import { replicaModel } from "../hardware/replicaShapes";
import type { ReplicaModel } from "./replicaModel";
import { meanThroughputCurve, throughputAt, throughputCurve } from "./throughputCurve";

/** A decode step of `base` seconds and `each` more for every sequence in it; prompts cost next to nothing. */
const replica = (base: number, each: number, more: Partial<ReplicaModel> = {}): ReplicaModel => ({
  stepTime: {
    decodeBaseSeconds: (sequences) => base + each * sequences,
    secondsPerKvToken: 0,
    mixedStepSeconds: ({ sequences }) => base + each * sequences,
    provenance: [],
  },
  ...{ kvTokens: 1e9, maxSequences: 256, maxBatchedTokens: 8192, requestSeconds: () => 0 },
  ...more,
});
const tokens = { inputTokens: 10, outputTokens: 200 };

test("throughput at a batch is what the step time makes of it", () => {
  const { throughput } = throughputCurve(replica(0.01, 0.0005), tokens);
  for (const { batch, tokensPerSecond } of throughput) {
    // A prompt takes a step that writes its first token, as any other; nothing else stands in the way.
    const expected = batch / (0.01 + 0.0005 * batch);
    expect(tokensPerSecond / expected).toBeGreaterThan(0.93);
    expect(tokensPerSecond / expected).toBeLessThan(1.05);
  }
});

test("the curve rises by at least 2 % a doubling up to its saturation batch, at which it ends", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 0.05, noNaN: true }), fc.double({ min: 0, max: 0.05, noNaN: true }), (base, each) => {
      const { throughput, saturationBatch } = throughputCurve(replica(base, each), tokens);
      expect(throughput[throughput.length - 1]?.batch).toBe(saturationBatch);
      for (const [at, point] of throughput.slice(1).entries()) {
        const before = throughput[at]!;
        expect(point.batch).toBeGreaterThan(before.batch);
        expect(point.tokensPerSecond).toBeGreaterThan(before.tokensPerSecond);
      }
    }),
    { numRuns: 20 },
  );
});

test("an engine whose steps take as long as their sequences is saturated by one, one whose steps take no longer never is", () => {
  expect(throughputCurve(replica(0, 0.01), tokens).saturationBatch).toBe(1);
  expect(throughputCurve(replica(0.01, 0), tokens).saturationBatch).toBe(256);
});

test("a small cache ends the curve at what it holds, and refuses what it cannot hold at all", () => {
  const { saturationBatch, throughput } = throughputCurve(replica(0.01, 0, { kvTokens: 1200 }), tokens);
  expect(saturationBatch).toBe(10);
  expect(throughput.map(({ batch }) => batch)).toEqual([1, 2, 4, 8, 10]);
  expect(() => throughputCurve(replica(0.01, 0, { kvTokens: 300 }), tokens)).toThrow(/310 tokens has no room in a KV cache of 300/);
});

test("a real shape saturates later with more memory to spare, and a larger model has fewer tokens a second throughout", () => {
  const curveOf = (model: string, tp: number) => {
    const fit = replicaModel(modelCards[model]!, gpuCards["h100-sxm"]!, { tp, pp: 1 });
    if (!fit.fits) throw new Error(fit.reason);
    return throughputCurve(fit.replica, { inputTokens: 700, outputTokens: 300 });
  };
  const [small, large] = [curveOf("llama-3.1-8b", 1), curveOf("llama-3.1-70b", 4)];
  expect(large.saturationBatch).toBeGreaterThan(8);
  for (const batch of [1, 8, 32]) expect(throughputAt(small, batch)).toBeGreaterThan(throughputAt(large, batch));
});

test("between its points a curve is straight, and beyond its end as at its end", () => {
  const curve = { throughput: [{ batch: 1, tokensPerSecond: 10 }, ...[{ batch: 4, tokensPerSecond: 25 }]] };
  expect([0, 0.5, 1, 2, 4, 9].map((batch) => throughputAt(curve, batch))).toEqual([0, 5, 10, 15, 25, 25]);
});

test("shapes of one model count by their replicas, each as far as it is worth more", () => {
  const [fast, slow] = [replica(0.01, 0.0001), replica(0.02, 0.001, { maxSequences: 16 })].map((each) => throughputCurve(each, tokens));
  const mean = meanThroughputCurve([{ curve: fast!, count: 1 }, ...[{ curve: slow!, count: 3 }]]);
  expect(mean.saturationBatch).toBe(Math.round((fast!.saturationBatch + 3 * slow!.saturationBatch) / 4));
  for (const { batch, tokensPerSecond } of mean.throughput)
    expect(tokensPerSecond).toBeCloseTo((throughputAt(fast!, batch) + 3 * throughputAt(slow!, batch)) / 4, 6);
  const batches = mean.throughput.map(({ batch }) => batch);
  expect(batches).toEqual([...new Set(batches)].sort((a, b) => a - b));
  expect(() => meanThroughputCurve([])).toThrow(RangeError);
});
