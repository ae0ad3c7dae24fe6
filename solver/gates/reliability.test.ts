import { describe, expect, it } from "vitest";
import { expectedCalibrationError, reliabilityBins } from "./reliability";

const answers = [
  { score: 95, label: 100 },
  { score: 100, label: 0 },
  { score: 20, label: 0 },
  { score: 29, label: 0 },
];

describe("reliabilityBins", () => {
  it("shows mean score and quality in each tenth of the scale that has answers", () => {
    expect(reliabilityBins(answers)).toEqual([
      { from: 20, to: 30, answers: 2, score: 24.5, quality: 0 },
      { from: 90, to: 100, answers: 2, score: 97.5, quality: 50 },
    ]);
  });
});

describe("expectedCalibrationError", () => {
  it("weighs the distance of each tenth by its answers", () => {
    expect(expectedCalibrationError(answers)).toBeCloseTo((2 * 24.5 + 2 * 47.5) / 4, 9);
    expect(expectedCalibrationError([{ score: 0, label: 0 }])).toBe(0);
    expect(expectedCalibrationError([])).toBeNaN();
  });
});
