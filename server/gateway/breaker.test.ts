import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Breaker } from "./breaker";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** One that has failed three times in a row. */
function resting(): Breaker {
  const breaker = new Breaker();
  for (let call = 0; call < 3; call += 1) {
    expect(breaker.begin()).toBe(true);
    breaker.failed();
  }
  return breaker;
}

describe("Breaker", () => {
  it("holds calls back for five seconds after three failures in a row", () => {
    const breaker = resting();
    expect(breaker.begin()).toBe(false);
    vi.advanceTimersByTime(4_999);
    expect(breaker.resting).toBe(true);
    vi.advanceTimersByTime(1);
    expect(breaker.begin()).toBe(true);
  });

  it("lets one call try for all after the rest, and the others go once that has succeeded", () => {
    const breaker = resting();
    vi.advanceTimersByTime(5_000);
    expect([breaker.begin(), breaker.begin()]).toEqual([true, false]);
    breaker.succeeded();
    expect([breaker.begin(), breaker.begin()]).toEqual([true, true]);
  });

  it("rests again at once when that call fails, and lets another try when it was given up", () => {
    const breaker = resting();
    vi.advanceTimersByTime(5_000);
    breaker.begin();
    breaker.gaveUp();
    expect(breaker.begin()).toBe(true);
    breaker.failed();
    expect(breaker.begin()).toBe(false);
  });

  it("does not count failures with a success between them", () => {
    const breaker = new Breaker();
    for (const works of [false, false, true, false, false]) {
      expect(breaker.begin()).toBe(true);
      if (works) breaker.succeeded();
      else breaker.failed();
    }
    expect(breaker.resting).toBe(false);
  });
});
