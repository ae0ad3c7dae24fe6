import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCounterRate } from "./counterRate";

describe("counter rate", () => {
  it("is absent before two readings in a row, and in engine seconds afterwards", () => {
    const rate = createCounterRate({ windowMs: 10_000, timeScale: 10 });
    rate.take(0, 100);
    expect(rate.perSecond()).toBeNull();
    rate.take(1000, 120);
    expect(rate.perSecond()).toBe(2);
  });

  it("tells a counter that fell, and takes nothing of what it shows for growth", () => {
    const rate = createCounterRate({ windowMs: 10_000, timeScale: 1 });
    expect(rate.take(0, 100)).toBe(false);
    expect(rate.take(1000, 60)).toBe(true);
    expect(rate.perSecond()).toBeNull();
    expect(rate.take(2000, 63)).toBe(false);
    expect(rate.perSecond()).toBe(3);
  });

  it("forgets growth older than its window and does not bridge a reading without the counter", () => {
    const rate = createCounterRate({ windowMs: 2000, timeScale: 1 });
    rate.take(0, 0);
    rate.take(1000, 50);
    rate.take(2000, null);
    rate.take(3000, 90);
    expect(rate.perSecond()).toBeNull();
    rate.take(4000, 91);
    expect(rate.perSecond()).toBe(1);
  });

  it("takes nothing for growth, nor for a fall, between readings of other series, and goes on with the same", () => {
    const rate = createCounterRate({ windowMs: 10_000, timeScale: 1 });
    rate.take(0, 500_000, 1);
    rate.take(1000, 500_020, 1);
    expect(rate.take(2000, 20, 2)).toBe(false);
    expect(rate.take(3000, 40, 2)).toBe(false);
    expect(rate.take(4000, 500_100, 1)).toBe(false);
    expect(rate.perSecond()).toBe(20);
    rate.take(5000, 500_120, 1);
    expect(rate.perSecond()).toBe(20);
  });

  it("is never negative and never more than the counter really grew, whenever it begins anew, vanishes or stands still", () => {
    const step = fc.record({
      wallMs: fc.integer({ min: 1, max: 5000 }),
      growth: fc.oneof(fc.nat(5), fc.double({ min: 0, max: 1e9, noNaN: true })),
      reset: fc.boolean(),
      absent: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(1, 20), (steps, timeScale) => {
        const rate = createCounterRate({ windowMs: 15_000, timeScale });
        let [atMs, counter, fastest] = [0, 0, 0];
        for (const { wallMs, growth, reset, absent } of steps) {
          atMs += wallMs;
          counter = (reset ? 0 : counter) + growth;
          fastest = Math.max(fastest, growth / ((wallMs / 1000) * timeScale));
          rate.take(atMs, absent ? null : counter);
          const perSecond = rate.perSecond();
          if (perSecond === null) continue;
          expect(perSecond).toBeGreaterThanOrEqual(0);
          expect(perSecond).toBeLessThanOrEqual(fastest * (1 + 1e-9) + 1e-3);
        }
      }),
      { numRuns: 500 },
    );
  });
});
