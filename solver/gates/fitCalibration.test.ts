import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { calibratedScore } from "./calibratedScore";
import { fitCalibration } from "./fitCalibration";
import { calibrationSchema } from "./gateDocument";
import { expectedCalibrationError } from "./reliability";

const anyAnswers = fc.array(fc.record({ score: fc.double({ min: 0, max: 100, noNaN: true }), label: fc.integer({ min: 0, max: 100 }) }), {
  minLength: 30,
  maxLength: 400,
});

describe("fitCalibration", () => {
  it("writes what a gate's document accepts, whatever the scores and labels", () => {
    fc.assert(
      fc.property(anyAnswers, (answers) => {
        const calibration = fitCalibration(answers);
        expect(calibrationSchema.parse(calibration)).toEqual(calibration);
      }),
      { numRuns: 50 },
    );
  });

  it("keeps the mean quality of the answers it was fitted to", () => {
    const answers = Array.from({ length: 200 }, (_, at) => ({ score: at % 4, label: at % 4 > at % 3 ? 100 : 0 }));
    const calibration = fitCalibration(answers) ?? undefined;
    const mean = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0) / of.length;
    expect(mean(answers.map(({ score }) => calibratedScore(score, calibration)))).toBeCloseTo(mean(answers.map(({ label }) => label)), 0);
  });

  it("learns the quality behind overconfident scores from a sample", () => {
    const random = seededRandom(5);
    const draw = () => {
      const score = 60 + 40 * random.next();
      return { score, label: random.next() < ((score - 60) / 40) ** 2 ? 100 : 0 };
    };
    const [learnt, fresh] = [Array.from({ length: 2000 }, draw), Array.from({ length: 2000 }, draw)];
    const calibration = fitCalibration(learnt) ?? undefined;
    const calibrated = fresh.map(({ score, label }) => ({ score: calibratedScore(score, calibration), label }));
    expect(expectedCalibrationError(fresh)).toBeGreaterThan(30);
    expect(expectedCalibrationError(calibrated)).toBeLessThan(5);
  });

  it("gives scores that order answers the wrong way one value", () => {
    const answers = Array.from({ length: 100 }, (_, at) => ({ score: at, label: at < 30 ? 100 : 0 }));
    const calibration = fitCalibration(answers) ?? undefined;
    expect([0, 50, 100].map((score) => calibratedScore(score, calibration))).toEqual([30, 30, 30].map((value) => expect.closeTo(value, 6)));
  });

  it("makes none of too few labels", () => {
    expect(fitCalibration(Array.from({ length: 29 }, (_, score) => ({ score, label: 100 })))).toBeNull();
  });
});
