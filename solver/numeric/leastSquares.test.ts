import fc from "fast-check";
import { expect, test } from "vitest";
import { leastSquares, robust, solveLinear } from "./leastSquares";

test("a line through points on a line is found exactly", () => {
  fc.assert(
    fc.property(fc.double({ min: -5, max: 5, noNaN: true }), fc.double({ min: -5, max: 5, noNaN: true }), (slope, offset) => {
      const xs = [0, 1, 2, 3, 4];
      const { parameters, cost } = leastSquares(([a = 0, b = 0]) => xs.map((x) => a * x + b - (slope * x + offset)), [0, 0]);
      expect(parameters[0]).toBeCloseTo(slope, 3);
      expect(parameters[1]).toBeCloseTo(offset, 3);
      expect(cost).toBeLessThan(1e-5);
    }),
  );
});

test("Rosenbrock's valley is followed to its end", () => {
  const { parameters } = leastSquares(([x = 0, y = 0]) => [1 - x, 10 * (y - x * x)], [-1.2, 1]);
  expect(parameters[0]).toBeCloseTo(1, 2);
  expect(parameters[1]).toBeCloseTo(1, 2);
});

test("the fit never ends worse than it began, whatever the residuals", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 2, maxLength: 6 }), (start) => {
      const residuals = (p: readonly number[]): number[] =>
        p.map((value, index) => Math.sin(3 * value) + 0.1 * value * (p[index - 1] ?? 1));
      const before = residuals(start).reduce((sum, value) => sum + value * value, 0);
      expect(leastSquares(residuals, start).cost).toBeLessThanOrEqual(before);
    }),
  );
});

test("one wild observation hardly moves a robust fit, and ruins a plain one", () => {
  const values = [1, 1.01, 0.99, 1.02, 0.98, 1, 100];
  const centre = (of: (residual: number) => number): number =>
    leastSquares(([c = 0]) => values.map((value) => of(c - value)), [1]).parameters[0] ?? 0;
  expect(centre((residual) => robust(residual, 0.1))).toBeLessThan(1.3);
  expect(centre((residual) => residual)).toBeGreaterThan(10);
});

test("a linear system is solved where its first pivot is zero", () => {
  expect(
    solveLinear(
      [
        [0, 2],
        [3, 1],
      ],
      [4, 5],
    ),
  ).toEqual([1, 2]);
});

test("the standard error of a mean is found, and that of a parameter that nothing depends on is infinite", () => {
  const values = [1, 2, 3, 4, 5];
  const { deviations } = leastSquares(([c = 0]) => values.map((value) => c - value), [0, 7]);
  // One parameter more is fitted than the mean needs, so the variance is over 3 degrees of freedom.
  expect(deviations[0]).toBeCloseTo(Math.sqrt(10 / 3 / 5), 3);
  expect(deviations[1]).toBe(Number.POSITIVE_INFINITY);
});
