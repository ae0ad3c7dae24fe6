import { expect, it } from "vitest";
import { createPendingSignIns } from "./pendingSignIns";

const minuteMs = 60_000;

it("gives a sign-in back once, to the browser that began it", () => {
  const pending = createPendingSignIns();
  const { browserSecret, ...checks } = pending.begin();
  const other = pending.begin();
  expect(pending.take(checks.state, other.browserSecret)).toBeNull();
  expect(pending.take(checks.state, "")).toBeNull();
  expect(pending.take("", browserSecret)).toBeNull();
  expect(pending.take(checks.state, browserSecret)).toEqual(checks);
  expect(pending.take(checks.state, browserSecret)).toBeNull();
  expect(pending.take(other.state, other.browserSecret)).not.toBeNull();
});

it("forgets a sign-in after ten minutes", () => {
  let nowMs = 0;
  const pending = createPendingSignIns(() => nowMs);
  const [kept, late] = [pending.begin(), pending.begin()];
  nowMs = 10 * minuteMs;
  expect(pending.take(kept.state, kept.browserSecret)).not.toBeNull();
  nowMs += 1;
  expect(pending.take(late.state, late.browserSecret)).toBeNull();
});

it("holds at most ten thousand sign-ins, and forgets the oldest", () => {
  const pending = createPendingSignIns();
  const begun = Array.from({ length: 10_002 }, () => pending.begin());
  const open = begun.map(({ state, browserSecret }) => pending.take(state, browserSecret) !== null);
  expect(open.slice(0, 3)).toEqual([false, false, true]);
  expect(open.filter(Boolean)).toHaveLength(10_000);
});

it("draws every secret anew: 256 bits each", () => {
  const pending = createPendingSignIns();
  const secrets = Array.from({ length: 100 }, () => Object.values(pending.begin())).flat();
  expect(new Set(secrets).size).toBe(400);
  for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
});
