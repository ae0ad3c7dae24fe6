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

  it("is never negative and never more than what was counted, whenever counters begin anew, vanish or stand still", () => {
    const step = fc.record({
      wallMs: fc.integer({ min: 0, max: 5000 }),
      growth: fc.oneof(fc.nat(5), fc.double({ min: 0, max: 1e9, noNaN: true })),
      reset: fc.boolean(),
      absent: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(1, 20), (steps, timeScale) => {
        const rate = createCounterRate({ windowMs: 15_000, timeScale });
        let [atMs, counter, counted, seconds] = [0, 0, 0, 0];
        for (const { wallMs, growth, reset, absent } of steps) {
          atMs += wallMs;
          seconds += (wallMs / 1000) * timeScale;
          counter = (reset ? 0 : counter) + growth;
          counted += growth;
          rate.take(atMs, absent ? null : counter);
          const perSecond = rate.perSecond();
          if (perSecond === null) continue;
          expect(perSecond).toBeGreaterThanOrEqual(0);
          expect(Number.isFinite(perSecond)).toBe(true);
          // In the shortest time that can be told, what was counted in all.
          expect(perSecond).toBeLessThanOrEqual((counted * (1 + 1e-9) * 1000) / timeScale);
          if (steps.every((one) => !one.reset && !one.absent) && atMs < 15_000 && seconds > 0) {
            expect(perSecond * seconds).toBeLessThanOrEqual(counted * (1 + 1e-9));
          }
        }
      }),
    );
  });
});
