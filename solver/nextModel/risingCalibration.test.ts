import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibrationSchema } from "@/solver/gates/gateDocument";
import { calibratedScore } from "@/solver/gates/gates";
import { fitRisingCalibration } from "./risingCalibration";

const answersOf = (count: number, right: (score: number) => boolean) =>
  Array.from({ length: count }, (_, at) => {
    const score = (at * 37) % 101;
    return { score, label: right(score) ? 100 : 0 };
  });

describe("a rising calibration", () => {
  it("is a calibration of any answers, and never falls", () => {
    const anyAnswers = fc.array(fc.record({ score: fc.integer({ min: 0, max: 100 }), label: fc.constantFrom(0, 40, 100) }), {
      minLength: 30,
      maxLength: 120,
    });
    fc.assert(
      fc.property(anyAnswers, (answers) => {
        const calibration = fitRisingCalibration(answers);
        expect(calibrationSchema.safeParse(calibration).success).toBe(true);
      }),
    );
  });

  it("tells scores of one isotonic block apart, where scores say anything", () => {
    const calibration = fitRisingCalibration(answersOf(400, (score) => score >= 50)) ?? undefined;
    for (const [low, high] of [
      [10, 20],
      [60, 90],
    ])
      expect(calibratedScore(high ?? 0, calibration)).toBeGreaterThan(calibratedScore(low ?? 0, calibration));
    expect(calibratedScore(90, calibration)).toBeGreaterThan(90);
    expect(calibratedScore(10, calibration)).toBeLessThan(10);
  });

  it("is the mean quality everywhere for a gate that says the opposite, and none for too few answers", () => {
    const opposite = fitRisingCalibration(answersOf(400, (score) => score < 50)) ?? undefined;
    expect(calibratedScore(95, opposite) - calibratedScore(5, opposite)).toBeLessThan(1e-9);
    expect(calibratedScore(50, opposite)).toBeCloseTo(49.5, 0);
    expect(fitRisingCalibration(answersOf(20, (score) => score >= 50))).toBeNull();
  });
});
