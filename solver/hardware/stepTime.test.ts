import fc from "fast-check";
import { expect, test } from "vitest";
import type { StepLoad } from "../engine/replicaModel";
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
  const load = fc
    .record({ decodes: fc.integer({ min: 0, max: 256 }), prefillTokens: count, prefillPairs: count, kvTokensRead: count, prompts: count })
    .map(({ decodes, prompts, ...rest }) => ({ ...rest, tokens: decodes + rest.prefillTokens, sequences: decodes + Math.min(8, prompts) }));
  const more = {
    tokens: (base: StepLoad) => ({ ...base, tokens: base.tokens + 100, sequences: base.sequences + 100 }),
    prefillTokens: (base: StepLoad) => ({ ...base, tokens: base.tokens + 1000, prefillTokens: base.prefillTokens + 1000 }),
    prefillPairs: (base: StepLoad) => ({ ...base, prefillPairs: base.prefillPairs + 1000 }),
    kvTokensRead: (base: StepLoad) => ({ ...base, kvTokensRead: base.kvTokensRead + 1000 }),
  };
  fc.assert(
    fc.property(pair, load, fc.constantFrom("tokens", "prefillTokens", "prefillPairs", "kvTokensRead"), (step, base, part) => {
      const seconds = step.mixedStepSeconds(base);
      expect(Number.isFinite(seconds) && seconds > 0).toBe(true);
      expect(step.mixedStepSeconds(more[part](base))).toBeGreaterThanOrEqual(seconds);
    }),
  );
});

test("a mixed step without prefill is a decode step, with a pipeline too", () => {
  for (const pp of [1, 2, 4]) {
    const step = stepTime(llama70, h100, { tp: 4, pp });
    const mixed = step.mixedStepSeconds({ tokens: 40, prefillTokens: 0, prefillPairs: 0, kvTokensRead: 20_000, sequences: 40 });
    expect(mixed).toBeCloseTo(step.decodeBaseSeconds(40) + 20_000 * step.secondsPerKvToken, 12);
  }
});

test("one prompt token beside a full batch costs a pipeline next to nothing", () => {
  const step = stepTime(llama70, h100, { tp: 4, pp: 2 });
  const load = { kvTokensRead: 0, prefillPairs: 1, sequences: 257, tokens: 257, prefillTokens: 1 };
  expect(step.mixedStepSeconds(load) / step.decodeBaseSeconds(256)).toBeLessThan(1.01);
});

test("prefill has to fill a pipeline: two stages share it worse than they share decoding", () => {
  const [flat, piped] = [1, 2].map((pp) => stepTime(llama70, h100, { tp: 4, pp }));
  const tokens = 8192;
  const load = { tokens, prefillTokens: tokens, prefillPairs: tokens * 4096, kvTokensRead: 0, sequences: 1 };
  const shared = piped!.mixedStepSeconds(load) / flat!.mixedStepSeconds(load);
  expect(shared).toBeGreaterThan(0.7);
  expect(shared).toBeLessThan(0.9);
  expect(piped!.secondsPerKvToken).toBeCloseTo(flat!.secondsPerKvToken / 2, 15);
});

test("layers that do not divide evenly leave the fullest stage to set the pace", () => {
  const gemma = modelCards["gemma-2-9b"]!;
  expect(gemma.architecture.layers % 4).toBe(2);
  const [even, uneven] = [gemma, { ...gemma, architecture: { ...gemma.architecture, layers: 44 } }].map((card) =>
    stepTime(card, h100, { tp: 1, pp: 4 }),
  );
  expect(even!.secondsPerKvToken).toBeCloseTo(uneven!.secondsPerKvToken, 15);
});

test("tensor parallelism over PCIe pays for its link, also where compute kernels are borrowed from an NVLink GPU", () => {
  const [sxm, pcie] = ["a100-sxm-80g", "a100-pcie-80g"].map((id) => stepTime(llama70, gpuCards[id]!, { tp: 8, pp: 1 }));
  const load = { tokens: 8192, prefillTokens: 8192, prefillPairs: 8192 * 4096, kvTokensRead: 0, sequences: 1 };
  expect(pcie!.mixedStepSeconds(load)).toBeGreaterThan(3 * sxm!.mixedStepSeconds(load));
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
  // A layer of latent attention takes 60 microseconds beyond its matrices: see the step time.
  expect(stepTime(latent, gpuCards["b200-sxm"]!, { tp: 8, pp: 1 }).decodeBaseSeconds(1)).toBeGreaterThan(61 * 60e-6 + 0.004);
});

test("a short sliding window costs by the sequence, and never more than full attention where the context fills it", () => {
  const windowed = modelCards["gpt-oss-20b"]!;
  const full = { ...windowed, architecture: { ...windowed.architecture, slidingWindow: null } };
  const [short, long] = [windowed, full].map((card) => stepTime(card, h100, { tp: 1, pp: 1 }));
  expect(short!.secondsPerKvToken).toBeCloseTo(long!.secondsPerKvToken / 2, 12);
  for (const context of [128, 1000, 30_000]) {
    const seconds = [short, long].map((step) => step!.decodeBaseSeconds(64) + 64 * context * step!.secondsPerKvToken);
    expect(seconds[0]).toBeLessThanOrEqual(seconds[1]! * (1 + 1e-9));
  }
});

test("a wide sliding window is counted as full attention, which bounds it from above", () => {
  const windowed = modelCards["gemma-3-12b"]!;
  const full = { ...windowed, architecture: { ...windowed.architecture, slidingWindow: null } };
  expect(stepTime(windowed, h100, { tp: 1, pp: 1 }).decodeBaseSeconds(64)).toBe(
    stepTime(full, h100, { tp: 1, pp: 1 }).decodeBaseSeconds(64),
  );
});

test("fp8 weights on a GPU without fp8 tensor cores are read faster than bf16 ones and multiplied no faster", () => {
  const a100 = gpuCards["a100-sxm-80g"]!;
  const [bf16, fp8] = (["bf16", "fp8"] as const).map((precision) => stepTime(atPrecision(llama8, precision), a100, { tp: 1, pp: 1 }));
  expect(fp8!.decodeBaseSeconds(1)).toBeLessThan(0.8 * bf16!.decodeBaseSeconds(1));
  const prefill = { tokens: 8192, prefillTokens: 8192, prefillPairs: 8192 * 4096, kvTokensRead: 0, sequences: 1 };
  expect(fp8!.mixedStepSeconds(prefill)).toBeGreaterThan(0.9 * bf16!.mixedStepSeconds(prefill));
});
