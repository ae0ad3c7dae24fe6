import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { sparseOf } from "@/solver/numeric/sparseMatrix";
import { allLogits, fitHeads, verdicts } from "./headBank";
import { fitLogistic } from "./logistic";

/** Rows of uncorrelated features, and outcomes that depend on the first of them. */
function drawn(rows: number, features: number, seed: number) {
  const random = seededRandom(seed);
  const values = Float32Array.from({ length: rows * features }, (_, at) => random.normal() * (1 + (at % features)));
  const outcomes = 5;
  const right = new Float32Array(rows * outcomes);
  for (let row = 0; row < rows; row++) {
    for (let outcome = 0; outcome < outcomes; outcome++) {
      const logit = outcome - 1 + (values[row * features] ?? 0) * (1 - outcome / 3);
      right[row * outcomes + outcome] = random.next() < 1 / (1 + Math.exp(-logit)) ? 1 : 0;
    }
  }
  return { matrix: { rows, features, values }, right, stride: outcomes };
}

const all = Int32Array.of(0, 1, 2, 3, 4);

describe("heads fitted side by side", () => {
  it("come out as each fitted by itself", () => {
    const { matrix, right, stride } = drawn(400, 4, 1);
    const bank = fitHeads(matrix, { right, stride, weight: new Float32Array(400).fill(1), outcomes: all }, 0.1);
    const rows = sparseOf(
      4,
      Array.from({ length: 400 }, (_, row) => ({ columns: [0, 1, 2, 3], values: matrix.values.subarray(4 * row, 4 * row + 4) })),
    );
    for (const outcome of all) {
      // The heads are fitted to smoothed outcomes.
      const known = Float64Array.from({ length: 400 }, (_, row) => (right[row * stride + outcome]! * 400 + 0.5) / 401);
      const alone = fitLogistic(rows, known, 0.1);
      expect(bank.bias[outcome]).toBeCloseTo(alone.bias, 3);
      for (const [feature, weight] of alone.weights.entries()) expect(bank.weights[outcome * 4 + feature]).toBeCloseTo(weight, 3);
    }
  });

  it("count a row of weight two as two rows", () => {
    const { matrix, right, stride } = drawn(120, 3, 2);
    const twice = (values: Float32Array, width: number) => {
      const doubled = new Float32Array(values.length + 60 * width);
      doubled.set(values);
      doubled.set(values.subarray(0, 60 * width), values.length);
      return doubled;
    };
    const weight = Float32Array.from({ length: 120 }, (_, row) => (row < 60 ? 2 : 1));
    const weighted = fitHeads(matrix, { right, stride, weight, outcomes: all }, 0.3);
    const repeated = fitHeads(
      { ...matrix, rows: 180, values: twice(matrix.values, 3) },
      { right: twice(right, stride), stride, weight: new Float32Array(180).fill(1), outcomes: all },
      0.3,
    );
    for (const [at, value] of weighted.weights.entries()) expect(repeated.weights[at]).toBeCloseTo(value, 3);
  });

  it("stay finite where all rows have one outcome", () => {
    const { matrix } = drawn(50, 3, 3);
    for (const outcome of [0, 1]) {
      const right = new Float32Array(50).fill(outcome);
      const { bias, weights } = fitHeads(matrix, { right, stride: 1, weight: new Float32Array(50).fill(1), outcomes: Int32Array.of(0) }, 1);
      expect(Math.abs(bias[0]!)).toBeLessThan(10);
      expect(weights.every(Number.isFinite)).toBe(true);
      expect(bias[0]! > 0).toBe(outcome === 1);
    }
  });

  it("say the same whether all are asked or some, in any order", () => {
    const { matrix, right, stride } = drawn(40, 6, 4);
    const bank = fitHeads(matrix, { right, stride, weight: new Float32Array(40).fill(1), outcomes: all }, 0.1);
    const whole = allLogits(bank, matrix);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 39 }), fc.nat({ max: 4 }))), (pairs) => {
        const row = Int32Array.from(pairs, ([of]) => of);
        const head = Int32Array.from(pairs, ([, by]) => by);
        const said = verdicts(bank, matrix, { row, head }, 0.4);
        expect([...said]).toEqual(pairs.map(([of, by]) => (whole[of * 5 + by]! >= 0.4 ? 1 : 0)));
      }),
    );
  });
});
