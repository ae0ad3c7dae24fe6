import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wasserstein, wassersteinOfQuantiles, wassersteinOfSamples } from "./wasserstein";

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

describe("of quantiles at equal steps", () => {
  const steps = 8;
  const quantiles = fc
    .array(number, { minLength: steps + 1, maxLength: steps + 1 })
    .map((values) => values.sort((one, other) => one - other));

  test("it is that of samples in which the first and last stand once and the others twice", () => {
    const twice = (values: readonly number[]): number[] =>
      values.flatMap((value, at) => (at === 0 || at === steps ? [value] : [value, value]));
    fc.assert(
      fc.property(quantiles, quantiles, (a, b) => {
        expect(Math.abs(wassersteinOfQuantiles(a, b) - wassersteinOfSamples(twice(a), twice(b)))).toBeLessThan(ROUNDING);
      }),
    );
  });

  test("it is a metric that shifts and scales as the values do", () => {
    fc.assert(
      fc.property(quantiles, quantiles, quantiles, number, (a, b, c, by) => {
        expect(wassersteinOfQuantiles(a, a)).toBe(0);
        expect(wassersteinOfQuantiles(a, b)).toBe(wassersteinOfQuantiles(b, a));
        expect(wassersteinOfQuantiles(a, c)).toBeLessThanOrEqual(wassersteinOfQuantiles(a, b) + wassersteinOfQuantiles(b, c) + ROUNDING);
        const [moved, scaled] = [a.map((value) => value + by), [a, b].map((values) => values.map((value) => 3 * value))];
        expect(Math.abs(wassersteinOfQuantiles(a, moved) - Math.abs(by))).toBeLessThan(ROUNDING);
        expect(Math.abs(wassersteinOfQuantiles(scaled[0]!, scaled[1]!) - 3 * wassersteinOfQuantiles(a, b))).toBeLessThan(ROUNDING);
      }),
    );
  });

  test("it is what a sum over fine steps of probability gives, and more by what a crossing between two steps cuts off", () => {
    const at = (values: readonly number[], share: number): number => {
      const [below, part] = [Math.floor(share * steps), (share * steps) % 1];
      return values[below]! + part * ((values[below + 1] ?? 0) - values[below]!);
    };
    fc.assert(
      fc.property(quantiles, quantiles, (a, b) => {
        const fine = 20_000;
        let sum = 0;
        for (let step = 0; step < fine; step += 1) sum += Math.abs(at(a, (step + 0.5) / fine) - at(b, (step + 0.5) / fine)) / fine;
        const crossings = a.slice(1).reduce((total, value, before) => {
          const [left, right] = [a[before]! - b[before]!, value - b[before + 1]!];
          return left * right < 0 ? total + Math.abs(left * right) / (Math.abs(left) + Math.abs(right)) / steps : total;
        }, 0);
        expect(Math.abs(wassersteinOfQuantiles(a, b) - crossings - sum)).toBeLessThan(1e-3);
      }),
      { numRuns: 50 },
    );
  });

  test("one value each is as far as they are apart, none is far from nothing, and different numbers of them are refused", () => {
    expect(wassersteinOfQuantiles([3], [5])).toBe(2);
    expect(wassersteinOfQuantiles([], [])).toBeNaN();
    expect(() => wassersteinOfQuantiles([1, 2], [1, 2, 3])).toThrow("found 2 and 3");
  });
});
