import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { areaDifference, riskCoverage } from "./riskCoverage";

const anyAnswers = fc.array(fc.record({ score: fc.integer({ min: 0, max: 10 }), label: fc.constantFrom(0, 100) }), {
  minLength: 1,
  maxLength: 60,
});

describe("riskCoverage", () => {
  it("accepts the highest scores first", () => {
    const { area, curve } = riskCoverage(
      [
        { score: 10, label: 0 },
        { score: 90, label: 100 },
      ],
      1,
    );
    expect(area.value).toBe(25);
    expect(curve[0]).toEqual({ coverage: 0.5, risk: 0 });
    expect(curve.at(-1)).toEqual({ coverage: 1, risk: 50 });
  });

  it("has the same risk at every coverage where all scores are equal", () => {
    const answers = [0, 100, 100, 0, 0].map((label) => ({ score: 50, label }));
    expect(riskCoverage(answers, 1).curve.map(({ risk }) => risk)).toEqual(Array(20).fill(expect.closeTo(60, 9)));
  });

  it("is the same in any order of the answers, and under any strictly ascending change of scores", () => {
    fc.assert(
      fc.property(anyAnswers, (answers) => {
        const { value } = riskCoverage(answers, 1).area;
        expect(riskCoverage(answers.toReversed(), 1).area.value).toBeCloseTo(value, 9);
        const bent = answers.map(({ score, label }) => ({ score: Math.sqrt(score) * 7, label }));
        expect(riskCoverage(bent, 1).area.value).toBeCloseTo(value, 9);
      }),
      { numRuns: 20 },
    );
  });

  it("is lowest for scores that are the labels and highest for their opposites", () => {
    fc.assert(
      fc.property(anyAnswers, (answers) => {
        const { value } = riskCoverage(answers, 1).area;
        const areaOf = (score: (label: number) => number) =>
          riskCoverage(
            answers.map(({ label }) => ({ label, score: score(label) })),
            1,
          ).area.value;
        expect(areaOf((label) => label)).toBeLessThanOrEqual(value + 1e-9);
        expect(areaOf((label) => 100 - label)).toBeGreaterThanOrEqual(value - 1e-9);
      }),
      { numRuns: 20 },
    );
  });

  it("has an interval that narrows with the number of answers and is the same for a seed", () => {
    const answers = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ score: (at * 37) % 101, label: (at * 61) % 100 < (at * 37) % 101 ? 100 : 0 }));
    const width = (count: number) => {
      const { low, high, value } = riskCoverage(answers(count), 3).area;
      expect(low).toBeLessThan(value);
      expect(high).toBeGreaterThan(value);
      return high - low;
    };
    expect(width(1600)).toBeLessThan(0.4 * width(100));
    expect(riskCoverage(answers(100), 3)).toEqual(riskCoverage(answers(100), 3));
  });
});

describe("areaDifference", () => {
  it("is surely above 0 for scores that know nothing beside those that know the labels, and 0 beside themselves", () => {
    const answers = Array.from({ length: 100 }, (_, at) => ({ score: at % 3 === 0 ? 20 : 80, label: at % 3 === 0 ? 0 : 100 }));
    const blind = areaDifference(answers, new Float64Array(100), 1);
    expect(blind.low).toBeGreaterThan(5);
    const same = areaDifference(
      answers,
      answers.map(({ score }) => score),
      1,
    );
    expect(same).toEqual({ value: 0, low: 0, high: 0 });
  });
});
