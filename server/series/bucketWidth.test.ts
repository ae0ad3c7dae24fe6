import fc from "fast-check";
import { expect, it } from "vitest";
import { boundedRange, bucketsOf, bucketWidth } from "./bucketWidth";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

it.each([
  [15 * MINUTE_MS, 800, 2_000],
  [60 * MINUTE_MS, 720, 5_000],
  [6 * 60 * MINUTE_MS, 720, 30_000],
  [DAY_MS, 720, 2 * MINUTE_MS],
  [31 * DAY_MS, 800, 60 * MINUTE_MS],
  [31 * DAY_MS, 2, 16 * DAY_MS],
])("shows %d ms in at most %d buckets of %d ms", (spanMs, points, width) => {
  expect(bucketWidth(spanMs, points)).toBe(width);
});

it("is never narrower than it must be, and no wider than the next round width", () => {
  expect(bucketWidth(60_000, 800, 15_000)).toBe(20_000);
  expect(bucketWidth(20_000, 1, 15_000)).toBe(20_000);
});

it("gives any range the same whole buckets: those that begin at multiples of their width, one more than its points at most", () => {
  const range = {
    fromMs: fc.integer({ min: 0, max: 4e12 }),
    spanMs: fc.integer({ min: 1, max: 31 * DAY_MS }),
    points: fc.integer({ min: 1, max: 2_000 }),
  };
  fc.assert(
    fc.property(fc.record(range), ({ fromMs, spanMs, points }) => {
      const bucketMs = bucketWidth(spanMs, points);
      const buckets = bucketsOf({ fromMs, toMs: fromMs + spanMs, bucketMs });
      expect(buckets.fromMs % bucketMs).toBe(0);
      expect(buckets.fromMs).toBeLessThanOrEqual(fromMs);
      expect(buckets.fromMs + bucketMs).toBeGreaterThan(fromMs);
      const endMs = buckets.fromMs + buckets.count * bucketMs;
      expect(endMs).toBeGreaterThanOrEqual(fromMs + spanMs);
      expect(endMs - bucketMs).toBeLessThan(fromMs + spanMs);
      expect(buckets.count).toBeLessThanOrEqual(points + 1);
      const wholeSteps = [10_000, 60_000].filter((stepMs) => bucketMs >= stepMs);
      for (const stepMs of wholeSteps) expect(bucketMs % stepMs).toBe(0);
    }),
  );
});

it.each([
  ["all of time", { fromMs: 0, toMs: 8.64e15 }, { fromMs: 9 * DAY_MS + 101, toMs: 40 * DAY_MS + 101 }],
  ["a month long ago", { fromMs: 0, toMs: 20 * DAY_MS }, { fromMs: 0, toMs: 20 * DAY_MS }],
  ["what is yet to come", { fromMs: 50 * DAY_MS, toMs: 51 * DAY_MS }, { fromMs: 40 * DAY_MS + 101, toMs: 40 * DAY_MS + 101 }],
])("bounds %s to what has been, 31 days at most", (_, asked, bounded) => {
  expect(boundedRange(asked, 40 * DAY_MS + 100)).toEqual(bounded);
});
