import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Breaker } from "./breaker";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function fail(breaker: Breaker): void {
  const trial = breaker.begin();
  expect(trial).not.toBeNull();
  trial?.failed();
}

/** A breaker that has failed three times in a row. */
function openBreaker(): Breaker {
  const breaker = new Breaker();
  for (let call = 0; call < 3; call += 1) fail(breaker);
  return breaker;
}

describe("Breaker", () => {
  it("holds calls back for five seconds after three failures in a row", () => {
    const breaker = openBreaker();
    expect(breaker.begin()).toBeNull();
    vi.advanceTimersByTime(4_999);
    expect(breaker.isOpen).toBe(true);
    vi.advanceTimersByTime(1);
    expect(breaker.begin()).not.toBeNull();
  });

  it("lets one call try for all after the rest, and the others go once that has succeeded", () => {
    const breaker = openBreaker();
    vi.advanceTimersByTime(5_000);
    const probe = breaker.begin();
    expect([probe === null, breaker.begin()]).toEqual([false, null]);
    probe?.succeeded();
    expect([breaker.begin(), breaker.begin()]).not.toContain(null);
  });

  it("rests again at once when that call fails, and lets another try when it was given up", () => {
    const breaker = openBreaker();
    vi.advanceTimersByTime(5_000);
    breaker.begin()?.gaveUp();
    fail(breaker);
    expect(breaker.begin()).toBeNull();
  });

  it("keeps to one try while calls from before the rest are given up or fail", () => {
    const breaker = new Breaker();
    const earlier = [breaker.begin(), breaker.begin()];
    for (let call = 0; call < 3; call += 1) fail(breaker);
    vi.advanceTimersByTime(5_000);
    const probe = breaker.begin();
    earlier[0]?.gaveUp();
    expect(breaker.begin()).toBeNull();
    earlier[1]?.failed();
    expect(breaker.begin()).toBeNull();
    probe?.succeeded();
    expect(breaker.begin()).not.toBeNull();
  });

  it("does not count failures with a success between them", () => {
    const breaker = new Breaker();
    for (const works of [false, false, true, false, false]) {
      if (works) breaker.begin()?.succeeded();
      else fail(breaker);
    }
    expect(breaker.isOpen).toBe(false);
  });
});
