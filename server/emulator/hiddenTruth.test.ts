import { describe, expect, it } from "vitest";
import type { StepTime } from "@/solver/engine/replicaModel";
import { hiddenTruth } from "./hiddenTruth";

const planned: StepTime = { decodeBaseSeconds: () => 0.02, secondsPerKvToken: 1e-7, mixedStepSeconds: () => 0.1, provenance: [] };
const load = { tokens: 1, prefillTokens: 1, prefillPairs: 1, kvTokensRead: 1, sequences: 1 };
const ENGINES = 4000;

/** Ratios of true to planned times over many engines. */
function ratios(read: (truth: StepTime) => number): number[] {
  return Array.from({ length: ENGINES }, (_, at) => read(hiddenTruth(planned, { seed: 1, engineId: `engine-${at}` })));
}
const meanDeviation = (values: readonly number[]): number => values.reduce((sum, value) => sum + Math.abs(value - 1), 0) / values.length;

describe("hiddenTruth", () => {
  it("lies as far from the plan as a fitted step-time model lies from measurements", () => {
    expect(meanDeviation(ratios((truth) => truth.secondsPerKvToken / 1e-7))).toBeCloseTo(0.064, 2);
    const prefills = ratios((truth) => truth.mixedStepSeconds(load) / 0.1).filter((ratio) => ratio < 1.7);
    expect(meanDeviation(prefills)).toBeGreaterThan(0.09);
    expect(meanDeviation(prefills)).toBeLessThan(0.12);
  });

  it("is centred on the plan: half of the engines are faster", () => {
    const faster = ratios((truth) => truth.secondsPerKvToken / 1e-7).filter((ratio) => ratio < 1).length;
    expect(faster / ENGINES).toBeGreaterThan(0.46);
    expect(faster / ENGINES).toBeLessThan(0.54);
  });

  it("is the same for the same engine and seed, and another for another seed", () => {
    const draw = (seed: number) => {
      const truth = hiddenTruth(planned, { seed, engineId: "a" });
      return [truth.decodeBaseSeconds(4), truth.mixedStepSeconds(load), truth.mixedStepSeconds(load)];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it("pauses seldom and briefly", () => {
    const truth = hiddenTruth(planned, { seed: 3, engineId: "a" });
    const steps = Array.from({ length: 20_000 }, () => truth.mixedStepSeconds(load));
    const usual = [...steps].sort((a, b) => a - b)[10_000] ?? 0;
    const pauses = steps.filter((seconds) => seconds > usual * 1.3);
    expect(pauses.length).toBeGreaterThan(10);
    expect(pauses.length).toBeLessThan(100);
    expect(Math.max(...pauses)).toBeLessThan(1);
  });
});
