import fc from "fast-check";
import { expect, test } from "vitest";
import { gpuCards } from "../hardware/gpus";
import { modelCards } from "../hardware/models";
import { replicaModel } from "../hardware/replicaShapes";
import { seededRandom } from "../numeric/random";
import type { ReplicaModel } from "./replicaModel";
import { simulateClosedLoop } from "./simulateClosedLoop";
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
/** Answers of half to one and a half times their mean. */
const spread = (input: number, output: number) => ({
  inputTokens: new Int32Array(101).fill(input),
  outputTokens: Int32Array.from({ length: 101 }, (_, at) => Math.round(output * (0.5 + at / 100))),
  seed: 5,
});
const tokens = spread(10, 200);
/** Few answers are many times as long as most. */
const random = seededRandom(2);
const skewed = {
  inputTokens: Int32Array.from({ length: 400 }, () => Math.round(random.lognormal(5, 0.8))),
  outputTokens: Int32Array.from({ length: 400 }, () => Math.round(random.lognormal(5, 0.8))),
  seed: 3,
};

test("throughput at a batch is what the step time makes of it", () => {
  const { throughput } = throughputCurve(replica(0.01, 0.0005), tokens);
  for (const { batch, tokensPerSecond } of throughput) {
    // A prompt takes a step that writes its first token, like any other; nothing else adds time.
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
  expect(throughputCurve(replica(0, 0.01), tokens)).toMatchObject({ saturationBatch: 1, endedBy: "throughput" });
  expect(throughputCurve(replica(0.01, 0), tokens)).toMatchObject({ saturationBatch: 256, endedBy: "sequences" });
});

test("a small cache ends the curve before anything is preempted, and refuses where it holds none of the requests", () => {
  const { saturationBatch, throughput, endedBy } = throughputCurve(replica(0.01, 0, { kvTokens: 2000 }), tokens);
  expect(endedBy).toBe("memory");
  // At the end all hold at most 310 tokens each, and 210 on average: the batch that fits with half of each answer written is too large.
  expect(saturationBatch).toBeGreaterThanOrEqual(6);
  expect(saturationBatch).toBeLessThan(2000 / 110);
  expect(throughput.map(({ batch }) => batch)).toEqual([1, 2, 3, 4, 6, 8, 12, 16].filter((batch) => batch <= saturationBatch));
  expect(() => throughputCurve(replica(0.01, 0, { kvTokens: 100 }), tokens)).toThrow(/room in a KV cache of 100/);
});

test("an engine at its saturation under the very lengths it serves preempts nothing, and with twice as many writes hardly more", () => {
  const fit = replicaModel(modelCards["qwen2.5-32b"]!, gpuCards.l40s!, { tp: 2, pp: 1 });
  if (!fit.fits) throw new Error(fit.reason);
  const { saturationBatch, throughput, endedBy } = throughputCurve(fit.replica, skewed);
  const loop = (concurrency: number) => {
    const cycle = (of: Int32Array) => Int32Array.from({ length: 2400 }, (_, at) => of[(7 * at) % of.length]!);
    const [inputTokens, outputTokens] = [cycle(skewed.inputTokens), cycle(skewed.outputTokens)];
    const { preemptions, horizonSeconds } = simulateClosedLoop(fit.replica, { inputTokens, outputTokens }, { concurrency });
    return { preemptions, tokensPerSecond: outputTokens.reduce((sum, each) => sum + each, 0) / horizonSeconds };
  };
  expect(endedBy).toBe("memory");
  expect(loop(saturationBatch).preemptions).toBe(0);
  expect(loop(2 * saturationBatch).preemptions).toBeGreaterThan(100);
  // Filling and draining at the ends of a run lower the throughput.
  expect(throughput.at(-1)!.tokensPerSecond / loop(saturationBatch).tokensPerSecond).toBeLessThan(1.25);
  expect(loop(2 * saturationBatch).tokensPerSecond / loop(saturationBatch).tokensPerSecond).toBeLessThan(1.1);
});

test("a real shape saturates later with more memory to spare, and a larger model has fewer tokens a second throughout", () => {
  const curveOf = (model: string, tp: number) => {
    const fit = replicaModel(modelCards[model]!, gpuCards["h100-sxm"]!, { tp, pp: 1 });
    if (!fit.fits) throw new Error(fit.reason);
    return throughputCurve(fit.replica, spread(700, 300));
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
  expect(mean.endedBy).toBe(slow!.endedBy);
  expect(mean.saturationBatch).toBe(Math.round((fast!.saturationBatch + 3 * slow!.saturationBatch) / 4));
  for (const { batch, tokensPerSecond } of mean.throughput)
    expect(tokensPerSecond).toBeCloseTo((throughputAt(fast!, batch) + 3 * throughputAt(slow!, batch)) / 4, 6);
  const batches = mean.throughput.map(({ batch }) => batch);
  expect(batches).toEqual([...new Set(batches)].sort((a, b) => a - b));
  expect(() => meanThroughputCurve([])).toThrow(RangeError);
});
