import { expect, it } from "vitest";
import { holdsAt, nextAfter, shownIn } from "./scheduleClock";

const times = {
  timeZone: "Europe/Berlin",
  entries: [
    { at: "20:00", planId: "night" },
    { at: "07:30", planId: "day" },
  ],
};
const at = (iso: string): number => Date.parse(iso);
const told = (one: ReturnType<typeof holdsAt>) => one && `${new Date(one.atMs).toISOString().slice(0, 16)} ${one.planId}`;

it("tells which entry holds and which comes next, in whatever order they were written", () => {
  expect(told(holdsAt(times, at("2026-01-15T12:00Z")))).toBe("2026-01-15T06:30 day");
  expect(told(nextAfter(times, at("2026-01-15T12:00Z")))).toBe("2026-01-15T19:00 night");
  expect(told(holdsAt(times, at("2026-01-15T06:29Z")))).toBe("2026-01-14T19:00 night");
  expect(told(nextAfter(times, at("2026-01-15T19:00Z")))).toBe("2026-01-16T06:30 day");
});

it("begins at the very instant, not before", () => {
  expect(holdsAt(times, at("2026-01-15T06:30Z"))?.planId).toBe("day");
  expect(holdsAt(times, at("2026-01-15T06:30Z") - 1)?.planId).toBe("night");
});

it("keeps the time of the day when clocks are set", () => {
  expect(told(nextAfter(times, at("2026-03-28T20:00Z")))).toBe("2026-03-29T05:30 day");
  expect(told(nextAfter(times, at("2026-10-24T20:00Z")))).toBe("2026-10-25T06:30 day");
});

const early = { ...times, entries: [...times.entries, { at: "02:30", planId: "early" }] };

it("switches when clocks are set forward over an entry's time", () => {
  expect(told(nextAfter(early, at("2026-03-28T20:00Z")))).toBe("2026-03-29T01:00 early");
  expect(holdsAt(early, at("2026-03-29T00:59:59Z"))?.planId).toBe("night");
});

it("switches once when an entry's time comes twice, and not back in between", () => {
  expect(told(holdsAt(early, at("2026-10-25T00:30Z")))).toBe("2026-10-25T00:30 early");
  // 02:10 in winter time: the clock again shows a time before the entry's.
  expect(told(holdsAt(early, at("2026-10-25T01:10Z")))).toBe("2026-10-25T00:30 early");
  expect(told(nextAfter(early, at("2026-10-25T01:10Z")))).toBe("2026-10-25T06:30 day");
});

it("knows nothing of a time zone that there is none of", () => {
  expect(holdsAt({ ...times, timeZone: "Nowhere" }, 0)).toBeNull();
  expect(nextAfter({ ...times, timeZone: "Nowhere" }, 0)).toBeNull();
});

it("names a time with its zone", () => {
  expect(shownIn("Europe/Berlin", at("2026-07-15T18:00Z"))).toBe("20:00 in Europe/Berlin");
});
