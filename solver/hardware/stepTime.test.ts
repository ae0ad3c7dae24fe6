import fc from "fast-check";
import { expect, test } from "vitest";
import { gpuCards } from "./gpus";
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
  const count = fc.integer({ min: 0, max: 5000 });
  const load = fc.record({ tokens: count, prefillPairs: count, kvTokensRead: count, sequences: fc.integer({ min: 0, max: 256 }) });
  fc.assert(
    fc.property(pair, load, fc.constantFrom("tokens", "prefillPairs", "kvTokensRead", "sequences"), (step, base, part) => {
      const seconds = step.mixedStepSeconds(base);
      expect(Number.isFinite(seconds) && seconds > 0).toBe(true);
      expect(step.mixedStepSeconds({ ...base, [part]: base[part] + 1000 })).toBeGreaterThanOrEqual(seconds);
    }),
  );
});

test("a mixed step without prefill is a decode step", () => {
  const step = stepTime(llama8, h100, { tp: 2, pp: 1 });
  const mixed = step.mixedStepSeconds({ tokens: 40, prefillPairs: 0, kvTokensRead: 20_000, sequences: 40 });
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
  const prefill = { tokens: 8192, prefillPairs: 8192 * 4096, kvTokensRead: 0, sequences: 4 };
  expect(piped.mixedStepSeconds(prefill)).toBeLessThan(flat.mixedStepSeconds(prefill));
});

test("a GPU without kernel tables of its own says that its efficiencies are extrapolated", () => {
  const efficiency = (id: string) =>
    stepTime(llama8, gpuCards[id]!, { tp: 1, pp: 1 }).provenance.find((one) => one.source.includes("kernel tables"));
  expect(efficiency("l4")).toMatchObject({ kind: "extrapolated", source: expect.stringContaining("l40s") });
  expect(efficiency("h100-sxm")?.kind).toBe("measured");
});
