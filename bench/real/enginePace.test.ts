import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateRun } from "@/solver/calibration/simulatedRun";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { atPace } from "./enginePace";

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

describe("an engine at a pace", () => {
  it("takes so many times as long for every request of a closed loop, whatever is in flight", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.5, max: 3, noNaN: true }), fc.integer({ min: 1, max: 16 }), (pace, concurrency) => {
        const run = { inputTokens: 60, outputTokens: 20, concurrency, requests: 12 * concurrency };
        const seconds = (on: MeasuredEngine): number => simulateRun(run, on, on.limits).endToEndSeconds;
        expect(seconds(atPace(engine, pace)) / seconds(engine)).toBeCloseTo(pace, 2);
      }),
      { numRuns: 40 },
    );
  });
});
