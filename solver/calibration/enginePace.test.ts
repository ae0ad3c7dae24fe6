import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MeasuredEngine } from "../hardware/measuredEngine";
import { atPace, paceOf } from "./enginePace";
import { simulateRun } from "./simulatedRun";

const limit = (value: number) => ({ value, origin: "reported" }) as const;
const span = { least: 1, most: 100 };
const engine: MeasuredEngine = {
  ...{ model: "m", gpu: "g", shape: { tp: 1, pp: 1 }, errors: null, p95Errors: null, noise: null },
  step: {
    decode: [
      { at: 0, seconds: 0.004 },
      { at: 16, seconds: 0.009 },
    ],
    prefill: [
      { at: 0, seconds: 0 },
      { at: 256, seconds: 0.03 },
    ],
    ...{ secondsPerPrompt: 0.0015, secondsPerKvToken: 3e-6, secondsPerPair: 1e-7 },
  },
  request: { seconds: 0.002, secondsPerInputToken: 1e-6, secondsPerOutputToken: 5e-5, delaySeconds: 0.002 },
  limits: { kvTokens: limit(40_000), maxSequences: limit(256), maxBatchedTokens: limit(2048), contextTokens: limit(2048) },
  measuredOn: { runs: 5, requests: 50, inputTokens: span, outputTokens: span, concurrency: span, asOf: "2026-01-01", source: "made" },
};

const runOf = (on: MeasuredEngine, concurrency: number) => {
  const point = { inputTokens: 60, outputTokens: 20, concurrency, requests: 12 * concurrency };
  return { ...point, endToEndSeconds: simulateRun(point, on, on.limits).endToEndSeconds };
};

describe("the pace of an engine", () => {
  it("is found again in closed loops of an engine at that pace, whatever is in flight", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.5, max: 3, noNaN: true }), fc.integer({ min: 1, max: 16 }), (pace, concurrency) => {
        const slower = atPace(engine, pace);
        expect(paceOf(engine, [runOf(slower, concurrency)])).toBeCloseTo(pace, 2);
        expect(paceOf(slower, [runOf(slower, concurrency)])).toBeCloseTo(1, 9);
      }),
      { numRuns: 40 },
    );
  });

  it("is the geometric mean of several loops, and none without any", () => {
    const [fast, slow] = [runOf(atPace(engine, 0.5), 4), runOf(atPace(engine, 2), 4)];
    expect(paceOf(engine, [fast, slow])).toBeCloseTo(1, 2);
    expect(paceOf(engine, [])).toBeNaN();
  });
});
