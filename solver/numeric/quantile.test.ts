import fc from "fast-check";
import { expect, test } from "vitest";
import { mean, quantile, quantileOfSorted } from "./quantile";

test("a quantile between two order statistics is interpolated linearly", () => {
  expect(quantile([10, 0], 0.5)).toBe(5);
  expect(quantile([0, 10, 20, 30, 40], 0.95)).toBeCloseTo(38);
});

test("quantiles of nothing are absent rather than zero", () => {
  expect(quantile([], 0.5)).toBeNaN();
  expect(mean([])).toBeNaN();
});

test("quantiles rise with q, lie within the values, and leave the input as it was", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
      const before = [...values];
      const at = quantile(values, q);
      expect(values).toEqual(before);
      expect(at).toBeGreaterThanOrEqual(quantile(values, q / 2));
      expect(at).toBeGreaterThanOrEqual(Math.min(...values));
      expect(at).toBeLessThanOrEqual(Math.max(...values));
    }),
  );
});

test("unfinished requests counted as infinite never turn a quantile into NaN", () => {
  expect(quantileOfSorted([1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY], 0.75)).toBe(Number.POSITIVE_INFINITY);
  expect(quantileOfSorted([1, 2, Number.POSITIVE_INFINITY], 0.5)).toBe(2);
});

test("a quantile outside 0..1 is refused with its value", () => {
  expect(() => quantile([1], 95)).toThrow("found 95");
});

test("a quantile found by selection is the one of the sorted values", () => {
  const value = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true }).map((double) => double + 0),
  );
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 60 }), fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
      expect(quantile(values, q)).toBe(quantileOfSorted(Float64Array.from(values).sort(), q));
    }),
    { numRuns: 500 },
  );
});
