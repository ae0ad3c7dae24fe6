import fc from "fast-check";
import { expect, it } from "vitest";
import { nonNegativeLeastSquares } from "./nonNegativeLeastSquares";
import { seededRandom } from "./random";

const value = fc.double({ min: -10, max: 10, noNaN: true });
const table = fc.integer({ min: 1, max: 4 }).chain((columns) =>
  fc.record({
    matrix: fc.array(fc.array(value, { minLength: columns, maxLength: columns }), { minLength: columns, maxLength: 12 }),
    seed: fc.integer(),
  }),
);

const cost = (matrix: readonly (readonly number[])[], right: readonly number[], x: readonly number[]): number =>
  matrix.reduce((sum, row, at) => sum + (row.reduce((total, one, column) => total + one * x[column]!, 0) - right[at]!) ** 2, 0);

it("fits without a negative coefficient, and no other such coefficients that are tried fit better", () => {
  fc.assert(
    fc.property(table, ({ matrix, seed }) => {
      const random = seededRandom(seed);
      const right = matrix.map(() => 20 * random.next() - 10);
      const found = nonNegativeLeastSquares(matrix, right);
      expect(found.every((one) => one >= 0)).toBe(true);
      const least = cost(matrix, right, found);
      for (let trial = 0; trial < 40; trial++) {
        const tried = found.map((one) => Math.max(0, one + (random.next() < 0.5 ? 0.01 : 3) * random.normal()));
        expect(least).toBeLessThanOrEqual(cost(matrix, right, tried) * (1 + 1e-6) + 1e-6);
      }
    }),
  );
});

it("finds coefficients again that rows are made of, and uses one of two columns that say the same", () => {
  const random = seededRandom(3);
  const rows = Array.from({ length: 12 }, () => [1, 100 * random.next(), 1e6 * random.next()]);
  const made = rows.map(([, b = 0, c = 0]) => 5 + 0.3 * b + 2e-5 * c);
  const found = nonNegativeLeastSquares(rows, made);
  for (const [at, one] of [5, 0.3, 2e-5].entries()) expect(found[at]! / one).toBeCloseTo(1, 6);
  const twice = nonNegativeLeastSquares(
    rows.map(([, b = 0]) => [b, 2 * b]),
    rows.map(([, b = 0]) => 3 * b),
  );
  expect(twice[0]! + 2 * twice[1]!).toBeCloseTo(3, 6);
  expect(Math.min(...twice)).toBe(0);
});
