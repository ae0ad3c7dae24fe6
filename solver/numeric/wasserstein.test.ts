import fc from "fast-check";
import { expect, test } from "vitest";
import { wasserstein, wassersteinOfSamples } from "./wasserstein";

const number = fc.double({ min: -1000, max: 1000, noNaN: true });
const sample = fc.array(number, { minLength: 1, maxLength: 30 });
/** Values stay below 1000 and samples below 30, so rounding stays below this. */
const ROUNDING = 1e-8;

test("samples of equal size are as far apart as their sorted values on average", () => {
  expect(wasserstein([0, 1, 3], [8, 5, 6])).toBeCloseTo(5, 12);
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number), { minLength: 1, maxLength: 30 }), (pairs) => {
      const [a, b] = [0, 1].map((side) => pairs.map((pair) => pair[side]!).sort((x, y) => x - y));
      const paired = a!.reduce((sum, value, at) => sum + Math.abs(value - b![at]!), 0) / pairs.length;
      expect(Math.abs(wassersteinOfSamples(a!, b!) - paired)).toBeLessThan(ROUNDING);
    }),
  );
});

test("it is a metric: zero to itself however often repeated, symmetric, and no detour is shorter", () => {
  fc.assert(
    fc.property(sample, sample, sample, fc.integer({ min: 1, max: 4 }), (a, b, c, copies) => {
      expect(wasserstein(a, new Array(copies).fill(a).flat())).toBeLessThan(ROUNDING);
      expect(Math.abs(wasserstein(a, b) - wasserstein(b, a))).toBeLessThan(ROUNDING);
      expect(wasserstein(a, c)).toBeLessThanOrEqual(wasserstein(a, b) + wasserstein(b, c) + ROUNDING);
      if (new Set(a).size === 1 && new Set(b).size === 1) expect(wasserstein(a, b)).toBeCloseTo(Math.abs(a[0]! - b[0]!), 6);
    }),
  );
});

test("shifting both changes nothing, shifting one copy moves it by the shift, and scaling scales", () => {
  fc.assert(
    fc.property(sample, sample, number, (a, b, by) => {
      const moved = (values: readonly number[]): number[] => values.map((value) => value + by);
      expect(Math.abs(wasserstein(moved(a), moved(b)) - wasserstein(a, b))).toBeLessThan(ROUNDING);
      expect(Math.abs(wasserstein(a, moved(a)) - Math.abs(by))).toBeLessThan(ROUNDING);
      const half = (values: readonly number[]): number[] => values.map((value) => value / 2);
      expect(Math.abs(wasserstein(half(a), half(b)) - wasserstein(a, b) / 2)).toBeLessThan(ROUNDING);
    }),
  );
});

test("it is never less than the difference of the means, and nothing is far from nothing", () => {
  fc.assert(
    fc.property(sample, sample, (a, b) => {
      const centre = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
      expect(wasserstein(a, b)).toBeGreaterThanOrEqual(Math.abs(centre(a) - centre(b)) - ROUNDING);
    }),
  );
  expect(wasserstein([], [1])).toBeNaN();
});
