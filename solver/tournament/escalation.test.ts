import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { overRandomEscalation } from "./escalation";

const anyAnswers = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom(-100, 0, 100)), { minLength: 1, maxLength: 50 })
  .map((pairs) => ({ scores: pairs.map(([score]) => score), gains: pairs.map(([, gain]) => gain) }));

describe("overRandomEscalation", () => {
  it("gains what the answers with the lowest scores gain above the mean", () => {
    const answers = { scores: [10, 20, 80, 90], gains: [100, 100, 0, 0] };
    expect(overRandomEscalation(answers, 0.5, 1).value).toBeCloseTo(50 - 25, 9);
    expect(overRandomEscalation(answers, 0.25, 1).value).toBeCloseTo(25 - 12.5, 9);
  });

  it("gains nothing where all scores are equal, nor where none or all answers are sent on", () => {
    fc.assert(
      fc.property(anyAnswers, fc.double({ min: 0, max: 1, noNaN: true }), (answers, share) => {
        const { gains } = answers;
        expect(overRandomEscalation({ scores: new Float64Array(gains.length), gains }, share, 1).value).toBeCloseTo(0, 9);
        for (const end of [0, 1]) expect(overRandomEscalation(answers, end, 1).value).toBeCloseTo(0, 9);
      }),
      { numRuns: 20 },
    );
  });

  it("is the same in any order of the answers", () => {
    fc.assert(
      fc.property(anyAnswers, fc.double({ min: 0, max: 1, noNaN: true }), ({ scores, gains }, share) => {
        const turned = { scores: scores.toReversed(), gains: gains.toReversed() };
        expect(overRandomEscalation(turned, share, 1).value).toBeCloseTo(overRandomEscalation({ scores, gains }, share, 1).value, 9);
      }),
      { numRuns: 20 },
    );
  });
});
