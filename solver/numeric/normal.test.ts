import fc from "fast-check";
import { expect, test } from "vitest";
import { normalCdf, normalQuantile } from "./normal";

test("the distribution function has the tabulated values", () => {
  expect(normalCdf(0)).toBeCloseTo(0.5, 14);
  expect(normalCdf(1)).toBeCloseTo(0.8413447460685429, 14);
  expect(normalCdf(-1.959963984540054)).toBeCloseTo(0.025, 14);
  expect(normalCdf(-8) / 6.220960574271786e-16).toBeCloseTo(1, 6);
});

test("the quantile inverts the distribution function", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1 - 1e-9, noNaN: true }), (probability) => {
      expect(Math.abs(normalCdf(normalQuantile(probability)) - probability)).toBeLessThan(1e-13);
    }),
  );
  expect(normalQuantile(0.9)).toBeCloseTo(1.2815515655446004, 12);
});

test("the ends are infinite and anything outside 0..1 is refused", () => {
  expect([normalQuantile(0), normalQuantile(1)]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
  expect(() => normalQuantile(1.2)).toThrow("found 1.2");
});
