import { expect, it } from "vitest";
import { FruitlessTries } from "./fruitlessTries";

const tried = (tries: FruitlessTries, change: Partial<Parameters<FruitlessTries["end"]>[0]> = {}): string | null => {
  tries.gone("answered 503");
  return tries.end({ answers: 0, wasStarted: false, underWay: 0, ...change });
};

it("counts anew after each answer, also of what was asked before, and after it has told", () => {
  const tries = new FruitlessTries(2);
  expect([tried(tries), tries.timesAt(0), tries.timesAt(1)]).toEqual([null, 2, 0]);
  expect([tried(tries, { answers: 1 }), tries.timesAt(1)]).toEqual([null, 1]);
  const says = "was up each of the last 2 times, and answered nothing that it was asked (last: answered 503)";
  expect([1, 2, 3, 4].map(() => tried(tries, { answers: 1 }))).toEqual([null, says, null, says]);
});

it("waits for what is under way where the engine stands, and not where it had to be started as often", () => {
  const standing = new FruitlessTries(2);
  expect([1, 2, 3].map(() => tried(standing, { underWay: 1 }))).toEqual([null, null, null]);
  expect(tried(standing)).toContain("was up each of the last 4 times");
  const started = new FruitlessTries(2);
  expect(tried(started, { wasStarted: true, underWay: 1 })).toBeNull();
  expect(tried(started, { wasStarted: true, underWay: 1 })).toBe("was brought up 2 times and gone without one answer (last: answered 503)");
});
