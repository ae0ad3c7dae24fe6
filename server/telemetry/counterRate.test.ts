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

  it("takes a counter that fell as one that was reset: never a negative rate", () => {
    const rate = createCounterRate({ windowMs: 10_000, timeScale: 1 });
    rate.take(0, 100);
    rate.take(1000, 4);
    expect(rate.perSecond()).toBe(4);
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
});
