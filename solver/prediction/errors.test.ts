import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { averagePrecision, kendallTauDistance } from "./errors";

/** Reference: checks all pairs. */
function quadraticDistance(predicted: readonly number[], truth: readonly number[]): number {
  let [pairs, wrong] = [0, 0];
  for (const [one, known] of truth.entries()) {
    for (let other = 0; other < one; other++) {
      const order = Math.sign(known - truth[other]!);
      if (order === 0) continue;
      pairs += 1;
      wrong += (1 - order * Math.sign(predicted[one]! - predicted[other]!)) / 2;
    }
  }
  return wrong / pairs;
}

const numbers = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 12 })), { minLength: 2, maxLength: 60 });

describe("Kendall's tau distance", () => {
  it("is the share of pairs in the wrong order, ties half", () => {
    fc.assert(
      fc.property(numbers, (pairs) => {
        const [predicted, truth] = [pairs.map(([one]) => one), pairs.map(([, other]) => other)];
        const expected = quadraticDistance(predicted, truth);
        if (Number.isNaN(expected)) expect(kendallTauDistance(predicted, truth)).toBeNaN();
        else expect(kendallTauDistance(predicted, truth)).toBeCloseTo(expected, 12);
      }),
    );
  });

  it("is 0 for the true order, 1 for its reverse and 0.5 for one prediction for all", () => {
    const truth = [3, 1, 4, 1, 5, 9, 2, 6];
    expect(kendallTauDistance(truth, truth)).toBe(0);
    expect(
      kendallTauDistance(
        truth.map((value) => -value),
        truth,
      ),
    ).toBe(1);
    expect(kendallTauDistance(new Array(8).fill(7), truth)).toBe(0.5);
  });

  it("depends on the predicted order only", () => {
    fc.assert(
      fc.property(numbers, (pairs) => {
        const truth = pairs.map(([, other]) => other);
        const distance = kendallTauDistance(
          pairs.map(([one]) => one),
          truth,
        );
        const stretched = pairs.map(([one]) => Math.exp(one) - 5);
        expect(kendallTauDistance(stretched, truth)).toEqual(distance);
      }),
    );
  });

  it("does not compare every pair", () => {
    const truth = Float64Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 100_003);
    expect(kendallTauDistance(truth, truth)).toBe(0);
  });
});

describe("average precision", () => {
  it("is the mean precision at each right answer", () => {
    expect(averagePrecision([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 0])).toBeCloseTo((1 + 2 / 3) / 2, 12);
  });

  it("is the share of right answers for one score for all, and 1 for a perfect order", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), (answers) => {
        const right = answers.map(Number);
        const share = right.reduce((total, each) => total + each, 0) / right.length;
        if (share === 0) return;
        expect(
          averagePrecision(
            right.map(() => 0.3),
            right,
          ),
        ).toBeCloseTo(share, 12);
        expect(averagePrecision(right, right)).toBeCloseTo(1, 12);
      }),
    );
  });

  it("does not depend on the order that equal scores come in", () => {
    expect(averagePrecision([0.5, 0.5, 0.1], [1, 0, 1])).toBe(averagePrecision([0.5, 0.5, 0.1], [0, 1, 1]));
  });
});
