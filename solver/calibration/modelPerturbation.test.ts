import { describe, expect, it } from "vitest";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { ProfileErrors } from "@/solver/hardware/engineProfile";
import { modelPerturbation } from "./modelPerturbation";

const planned: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 0.02, secondsPerKvToken: 1e-7, mixedStepSeconds: () => 0.1, provenance: [] },
  kvTokens: 1e5,
  maxSequences: 256,
  maxBatchedTokens: 8192,
  requestSeconds: () => 0.02,
};
const off = (meanAbsolute: number) => ({ rows: 100, meanAbsolute, p90Absolute: 2 * meanAbsolute, bias: 0 });
const errors: ProfileErrors = { tpot: off(0.04), ttft: off(0.12), endToEnd: off(0.05) };
const load = { tokens: 1, prefillTokens: 1, prefillPairs: 1, kvTokensRead: 1, sequences: 1 };
const ENGINES = 4000;

/** Ratios of true to planned times over many engines. */
function ratios(known: ProfileErrors | null, read: (noise: ReplicaModel) => number): number[] {
  return Array.from({ length: ENGINES }, (_, at) => read(modelPerturbation(planned, known, { seed: 1, engineId: `engine-${at}` })));
}
const decoding = ({ stepTime }: ReplicaModel): number => stepTime.secondsPerKvToken / 1e-7;
const meanDeviation = (values: readonly number[]): number => values.reduce((sum, value) => sum + Math.abs(value - 1), 0) / values.length;

describe("modelPerturbation", () => {
  it("lies as far from the plan as the profile lay from runs its fit had not seen", () => {
    expect(meanDeviation(ratios(errors, decoding))).toBeCloseTo(0.04, 2);
    const outside = meanDeviation(ratios(errors, (noise) => noise.requestSeconds(100) / 0.02));
    expect(outside).toBeGreaterThan(0.115);
    expect(outside).toBeLessThan(0.13);
    // With the jitter of single steps on top.
    const prefills = ratios(errors, (noise) => noise.stepTime.mixedStepSeconds(load) / 0.1).filter((ratio) => ratio < 1.7);
    expect(meanDeviation(prefills)).toBeGreaterThan(0.11);
    expect(meanDeviation(prefills)).toBeLessThan(0.15);
  });

  it("deviates as fitted step times usually do where the profile's errors are not known", () => {
    expect(meanDeviation(ratios(null, decoding))).toBeCloseTo(0.064, 2);
  });

  it("is centred on the plan: half of the engines are faster", () => {
    const faster = ratios(errors, decoding).filter((ratio) => ratio < 1).length;
    expect(faster / ENGINES).toBeGreaterThan(0.46);
    expect(faster / ENGINES).toBeLessThan(0.54);
  });

  it("is the same for the same engine and seed, and another for another seed", () => {
    const draw = (seed: number) => {
      const noise = modelPerturbation(planned, errors, { seed, engineId: "a" }).stepTime;
      return [noise.decodeBaseSeconds(4), noise.mixedStepSeconds(load), noise.mixedStepSeconds(load)];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it("pauses seldom and briefly", () => {
    const noise = modelPerturbation(planned, errors, { seed: 3, engineId: "a" }).stepTime;
    const steps = Array.from({ length: 20_000 }, () => noise.mixedStepSeconds(load));
    const usual = [...steps].sort((a, b) => a - b)[10_000] ?? 0;
    const pauses = steps.filter((seconds) => seconds > usual * 1.3);
    expect(pauses.length).toBeGreaterThan(10);
    expect(pauses.length).toBeLessThan(100);
    expect(Math.max(...pauses)).toBeLessThan(1);
  });
});
