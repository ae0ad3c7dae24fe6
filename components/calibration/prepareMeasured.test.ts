import { expect, test } from "vitest";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { measuredLines, measuredTables, noiseText, shortSeconds } from "./prepareMeasured";

const engine: MeasuredEngine = {
  model: "small",
  gpu: "cpu-core",
  shape: { tp: 1, pp: 1 },
  step: {
    decode: [
      { at: 0, seconds: 0.004 },
      { at: 8, seconds: 0.0075 },
    ],
    prefill: [
      { at: 0, seconds: 0 },
      { at: 64, seconds: 0.0119 },
    ],
    secondsPerPrompt: 0.0004,
    secondsPerKvToken: 1.2e-6,
    secondsPerPair: 0,
  },
  request: { seconds: 0.001, secondsPerInputToken: 2e-6, secondsPerOutputToken: 4e-5, delaySeconds: 0 },
  limits: {
    kvTokens: { value: 16384, origin: "reported" },
    maxSequences: { value: 8, origin: "observed" },
    maxBatchedTokens: { value: 2048, origin: "assumed" },
    contextTokens: { value: 2048, origin: "reported" },
  },
  errors: null,
  p95Errors: null,
  noise: null,
  measuredOn: {
    runs: 20,
    requests: 400,
    inputTokens: { least: 16, most: 512 },
    outputTokens: { least: 16, most: 128 },
    concurrency: { least: 1, most: 16 },
    asOf: "2026-11-28",
    source: "an engine",
  },
};

test("times are given with a unit that suits them, and limits with their origin", () => {
  const lines = new Map(measuredLines(engine).map(({ words, value }) => [words, value]));
  expect(lines.get("A step with 8 decoding sequences")).toBe("7.5 ms");
  expect(lines.get("With 64 prompt tokens, further")).toBe("11.9 ms");
  expect(lines.get("With each prompt, further")).toBe("400 µs");
  expect(lines.get("Sequences at once")).toBe("8 (as the runs show)");
  expect(lines.get("Tokens a step")).toMatch(/assumed/);
  expect(shortSeconds(0)).toBe("0 ms");
});

test("tables of one model on one GPU are told apart by the engine's software, which an older entry takes from its profile", () => {
  const engines = [engine, { ...engine, engine: "weir-engine" }];
  expect(measuredTables({ engine: "vllm", engines }).map(({ title }) => title)).toEqual([
    "small on cpu-core with vLLM, tp 1, pp 1",
    "small on cpu-core with weir-engine, tp 1, pp 1",
  ]);
});

test("without a repeat the noise is said to be unknown", () => {
  expect(noiseText(engine)).toBe("No run was repeated: the noise is not known.");
  expect(noiseText({ noise: { repeats: 3, ttft: 0.05, tpot: 0.021, endToEnd: 0.03, p95: 0.1 } })).toBe(
    "Over 3 repeated runs means differ by 5.0 % (TTFT), 2.1 % (TPOT), 3.0 % (end to end), and the p95 by 10.0 %.",
  );
});
