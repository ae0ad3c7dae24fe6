import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { sparseOf } from "@/solver/numeric/sparseMatrix";
import { fitLogistic, headLogits, logLoss, sigmoid } from "./logistic";

function drawn(rows: number, seed: number, truth: readonly number[]) {
  const random = seededRandom(seed);
  const values = Array.from({ length: rows }, () => truth.map(() => random.normal()));
  const matrix = sparseOf(
    truth.length,
    values.map((line) => ({ columns: truth.map((_, at) => at), values: line })),
  );
  const right = values.map((line) => (random.next() < sigmoid(0.5 + line.reduce((sum, value, at) => sum + value * truth[at]!, 0)) ? 1 : 0));
  return { matrix, right };
}

describe("logistic regression", () => {
  it("finds the weights that labels were drawn by", () => {
    const truth = [1.5, -1, 0, 0.5];
    const { matrix, right } = drawn(20_000, 1, truth);
    const { bias, weights } = fitLogistic(matrix, right, 1e-6);
    expect(Math.abs(bias - 0.5)).toBeLessThan(0.08);
    for (const [at, weight] of weights.entries()) expect(Math.abs(weight - truth[at]!)).toBeLessThan(0.08);
  });

  it("ends where every slope of what it minimises is 0", () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0.001, max: 10, noNaN: true }), (seed, penalty) => {
        const { matrix, right } = drawn(60, seed, [2, -1, 0.3]);
        const head = fitLogistic(matrix, right, penalty);
        const errors = headLogits(matrix, head).map((logit, row) => sigmoid(logit) - right[row]!);
        expect(errors.reduce((sum, error) => sum + error, 0) / 60).toBeCloseTo(0, 5);
        for (const [at, weight] of head.weights.entries()) {
          const slope = errors.reduce((sum, error, row) => sum + error * matrix.value[row * 3 + at]!, 0) / 60;
          expect(slope + penalty * weight).toBeCloseTo(0, 5);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("says the share that is right where nothing tells rows apart or the penalty is vast", () => {
    const { matrix, right } = drawn(500, 3, [2, 2]);
    const share = right.reduce((sum: number, each) => sum + each, 0) / 500;
    const { bias, weights } = fitLogistic(matrix, right, 1e6);
    expect(sigmoid(bias)).toBeCloseTo(share, 3);
    expect(Math.hypot(...weights)).toBeLessThan(1e-3);
  });

  it("stays finite where all are right or a column parts them", () => {
    const { matrix } = drawn(50, 4, [1, 1]);
    const all = fitLogistic(
      matrix,
      matrix.value.map(() => 1),
      0.01,
    );
    expect(Number.isFinite(all.bias)).toBe(true);
    const parted = fitLogistic(
      matrix,
      Array.from({ length: 50 }, (_, row) => (matrix.value[2 * row]! > 0 ? 1 : 0)),
      0.01,
    );
    expect(parted.weights[0]).toBeGreaterThan(1);
    expect(parted.weights.every(Number.isFinite)).toBe(true);
  });

  it("takes graded labels as shares", () => {
    const matrix = sparseOf(1, [{ columns: [], values: [] }]);
    expect(sigmoid(fitLogistic(matrix, [0.3], 1).bias)).toBeCloseTo(0.3, 5);
    expect(logLoss(0, 0.3)).toBeCloseTo(Math.LN2, 12);
  });
});
