import fc from "fast-check";
import { expect, test } from "vitest";
import { gpuCards } from "./gpus";
import { atPrecision } from "./modelCard";
import { modelCards } from "./models";
import { feasibleShapes } from "./replicaShapes";
import { stepTime } from "./stepTime";

const h100 = gpuCards["h100-sxm"]!;
const llama8 = modelCards["llama-3.1-8b"]!;
const llama70 = modelCards["llama-3.1-70b"]!;

test("decoding one sequence of Llama-3.1-8B on an H100 takes at least the time to read its weights, at most two and a half times that", () => {
  const floorSeconds = (2 * 7.5e9) / h100.memoryBytesPerSecond;
  const seconds = stepTime(llama8, h100, { tp: 1, pp: 1 }).decodeBaseSeconds(1);
  expect(seconds).toBeGreaterThan(floorSeconds);
  expect(seconds).toBeLessThan(2.5 * floorSeconds);
});

test("a step grows with every part of its load, for every model, GPU and shape", () => {
  const pair = fc
    .tuple(fc.constantFrom(...Object.values(modelCards)), fc.constantFrom(...Object.values(gpuCards)))
    .map(([model, gpu]) => ({ model, gpu, shapes: feasibleShapes(model, gpu, { gpusPerNode: 8, maxGpus: 32 }) }))
    .filter(({ shapes }) => shapes.length > 0)
    .chain(({ model, gpu, shapes }) => fc.constantFrom(...shapes).map((shape) => stepTime(model, gpu, shape)));
  const count = fc.integer({ min: 1, max: 5000 });
  const load = fc.record({
    tokens: count,
    prefillTokens: count,
    prefillPairs: count,
    kvTokensRead: count,
    sequences: fc.integer({ min: 0, max: 256 }),
  });
  fc.assert(
    fc.property(pair, load, fc.constantFrom("tokens", "prefillTokens", "prefillPairs", "kvTokensRead", "sequences"), (step, base, part) => {
      const seconds = step.mixedStepSeconds(base);
      expect(Number.isFinite(seconds) && seconds > 0).toBe(true);
      expect(step.mixedStepSeconds({ ...base, [part]: base[part] + 1000 })).toBeGreaterThanOrEqual(seconds);
    }),
  );
});

test("a mixed step without prefill is a decode step", () => {
  const step = stepTime(llama8, h100, { tp: 2, pp: 1 });
  const mixed = step.mixedStepSeconds({ tokens: 40, prefillTokens: 0, prefillPairs: 0, kvTokensRead: 20_000, sequences: 40 });
  expect(mixed).toBeCloseTo(step.decodeBaseSeconds(40) + 20_000 * step.secondsPerKvToken, 12);
});

test("doubling tensor parallelism shortens a step of a large model, by less than half", () => {
  const two = stepTime(llama70, h100, { tp: 4, pp: 1 }).decodeBaseSeconds(32);
  const four = stepTime(llama70, h100, { tp: 8, pp: 1 }).decodeBaseSeconds(32);
  expect(four).toBeLessThan(two);
  expect(four).toBeGreaterThan(two / 2);
});

test("a pipeline does not make one token faster, but shares the compute of a full batch", () => {
  const flat = stepTime(llama70, h100, { tp: 4, pp: 1 });
  const piped = stepTime(llama70, h100, { tp: 4, pp: 2 });
  expect(piped.decodeBaseSeconds(1)).toBeGreaterThanOrEqual(flat.decodeBaseSeconds(1));
  const prefill = { tokens: 8192, prefillTokens: 8192, prefillPairs: 8192 * 4096, kvTokensRead: 0, sequences: 4 };
  expect(piped.mixedStepSeconds(prefill)).toBeLessThan(flat.mixedStepSeconds(prefill));
});

test("a GPU without kernel tables of its own says that its kernels are extrapolated", () => {
  const efficiency = (id: string) =>
    stepTime(llama8, gpuCards[id]!, { tp: 1, pp: 1 }).provenance.find((one) => one.source.includes("kernel tables"));
  expect(efficiency("l4")).toMatchObject({ kind: "extrapolated", source: expect.stringContaining("l40s") });
  expect(efficiency("h100-sxm")?.kind).toBe("fitted");
});

test("a mixture of experts reads more experts' weights the more tokens it serves, until all are read", () => {
  const step = stepTime(modelCards["qwen3-30b-a3b"]!, h100, { tp: 2, pp: 1 });
  const perToken = [1, 8, 64, 256].map((sequences) => step.decodeBaseSeconds(sequences));
  expect(perToken[1]).toBeGreaterThan(1.3 * perToken[0]!);
  expect(perToken[3]! - perToken[2]!).toBeLessThan(perToken[2]! - perToken[0]!);
});

test("latent attention does not get faster by splitting its cache over GPUs, which all hold it whole", () => {
  const latent = modelCards["deepseek-v3"]!;
  const [two, eight] = ([2, 8] as const).map((tp) => stepTime(latent, gpuCards["b200-sxm"]!, { tp, pp: 1 }).secondsPerKvToken);
  const kvBytes = latent.architecture.layers * (512 + 64) * latent.kvBytesPerValue;
  expect(eight).toBeGreaterThanOrEqual(kvBytes / gpuCards["b200-sxm"]!.memoryBytesPerSecond);
  expect(two).toBeGreaterThanOrEqual(eight!);
});

test("a short sliding window costs by the sequence, not by the length of its context", () => {
  const windowed = modelCards["gpt-oss-20b"]!;
  const full = { ...windowed, architecture: { ...windowed.architecture, slidingWindow: null } };
  const shape = { tp: 1, pp: 1 };
  expect(stepTime(windowed, h100, shape).secondsPerKvToken).toBeCloseTo(stepTime(full, h100, shape).secondsPerKvToken / 2, 12);
  expect(stepTime(windowed, h100, shape).decodeBaseSeconds(64)).toBeGreaterThan(stepTime(full, h100, shape).decodeBaseSeconds(64));
});

test("fp8 weights on a GPU without fp8 tensor cores are read faster than bf16 ones and multiplied no faster", () => {
  const a100 = gpuCards["a100-sxm-80g"]!;
  const [bf16, fp8] = (["bf16", "fp8"] as const).map((precision) => stepTime(atPrecision(llama8, precision), a100, { tp: 1, pp: 1 }));
  expect(fp8!.decodeBaseSeconds(1)).toBeLessThan(0.8 * bf16!.decodeBaseSeconds(1));
  const prefill = { tokens: 8192, prefillTokens: 8192, prefillPairs: 8192 * 4096, kvTokensRead: 0, sequences: 1 };
  expect(fp8!.mixedStepSeconds(prefill)).toBeGreaterThan(0.9 * bf16!.mixedStepSeconds(prefill));
});
