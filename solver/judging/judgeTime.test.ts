import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mean, quantile } from "../numeric/quantile";
import { seededRandom } from "../numeric/random";
import { fitJudgeTimes, type JudgeVariation, logSpreadOf, secondsAt, spreadFactor } from "./judgeTime";

/** Calls to a judge of known behaviour. */
function callsTo(meanSeconds: number, variation: JudgeVariation, count: number, seed: number) {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const tokens = variation.tokens * 2 * random.next();
    return { tokens, seconds: secondsAt(meanSeconds, variation, tokens) * spreadFactor(random, variation) };
  });
}

const variations = fc.record({
  tokens: fc.double({ min: 20, max: 5000, noNaN: true }),
  lengthShare: fc.double({ min: 0, max: 0.9, noNaN: true }),
  logSpread: fc.double({ min: 0, max: 0.8, noNaN: true }),
});
const means = fc.double({ min: 0.005, max: 5, noNaN: true });

describe("the time of a judge", () => {
  it("is found again from calls of different lengths: mean, growth with the length, spread", () => {
    fc.assert(
      fc.property(means, variations, fc.integer(), (seconds, variation, seed) => {
        const found = fitJudgeTimes(callsTo(seconds, variation, 4000, seed));
        expect(found?.meanSeconds).toBeGreaterThan(0.9 * seconds);
        expect(found?.meanSeconds).toBeLessThan(1.1 * seconds);
        expect(Math.abs((found?.variation.lengthShare ?? 2) - variation.lengthShare)).toBeLessThan(0.15);
        expect(Math.abs((found?.variation.logSpread ?? 2) - variation.logSpread)).toBeLessThan(0.1);
      }),
      { numRuns: 30 },
    );
  });

  it("has the mean and the 95th percentile it was described with", () => {
    fc.assert(
      fc.property(means, fc.double({ min: 1.05, max: 3.5, noNaN: true }), (seconds, ratio) => {
        const logSpread = logSpreadOf(seconds, seconds * ratio);
        if (logSpread === null) throw new Error(`no spread of p95 ${ratio} times the mean`);
        const random = seededRandom(3);
        const drawn = Float64Array.from({ length: 40_000 }, () => seconds * spreadFactor(random, { logSpread }));
        expect(mean(drawn) / seconds).toBeCloseTo(1, 1);
        expect(quantile(drawn, 0.95) / (seconds * ratio)).toBeCloseTo(1, 1);
      }),
      { numRuns: 20 },
    );
    expect(logSpreadOf(0.1, 0.09)).toBeNull();
    expect(logSpreadOf(0.1, 0.5)).toBeNull();
  });

  it("does not grow with the length where all calls have one, nor fall where longer calls were faster", () => {
    expect(fitJudgeTimes([{ tokens: 50, seconds: 0.1 }])).toEqual({
      ...{ calls: 1, meanSeconds: 0.1, p50Seconds: 0.1, p95Seconds: 0.1 },
      variation: { tokens: 50, lengthShare: 0, logSpread: 0 },
    });
    const falling = fitJudgeTimes([
      { tokens: 10, seconds: 0.2 },
      { tokens: 90, seconds: 0.1 },
    ]);
    expect(falling?.variation.lengthShare).toBe(0);
    expect(fitJudgeTimes([])).toBeNull();
  });
});
