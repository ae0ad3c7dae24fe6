import fc from "fast-check";
import { expect, it } from "vitest";
import { niceTicks } from "./niceTicks";

it("gives round numbers inside the range", () => {
  expect(niceTicks({ low: 0, high: 29.8, count: 5 })).toEqual([0, 10, 20]);
  expect(niceTicks({ low: 29, high: 71, count: 8 })).toEqual([30, 40, 50, 60, 70]);
  expect(niceTicks({ low: 0, high: 0.62, count: 6 })).toEqual([0, 0.2, 0.4, 0.6]);
});

it("never leaves the range and never gives more than asked for and one", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e4, noNaN: true }), fc.double({ min: 1e-3, max: 1e4, noNaN: true }), (low, span) => {
      const ticks = niceTicks({ low, high: low + span, count: 6 });
      expect(ticks.length).toBeLessThanOrEqual(7);
      for (const tick of ticks) expect(tick).toBeGreaterThanOrEqual(low - span * 1e-6);
    }),
  );
});

it("has one tick for a range without width", () => {
  expect(niceTicks({ low: 3, high: 3, count: 5 })).toEqual([3]);
});

it("has one tick for a range narrower than a number's precision, and never one twice", () => {
  expect(niceTicks({ low: 1e16, high: 1e16 + 2, count: 5 })).toEqual([1e16]);
  expect(niceTicks({ low: 0, high: Number.MIN_VALUE, count: 5 })).toEqual([0]);
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e16, noNaN: true }), fc.double({ min: 1e-18, max: 1e-3, noNaN: true }), (low, share) => {
      const ticks = niceTicks({ low, high: low * (1 + share), count: 6 });
      expect(ticks.length).toBeLessThanOrEqual(7);
      expect(new Set(ticks).size).toBe(ticks.length);
    }),
  );
});
