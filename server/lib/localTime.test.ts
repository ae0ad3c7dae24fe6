import * as fc from "fast-check";
import { expect, it } from "vitest";
import { daily, type LocalTime, localTime } from "./localTime";

const zone = (name: string): LocalTime => {
  const local = localTime(name);
  if (local === null) throw new Error(name);
  return local;
};
const berlin = zone("Europe/Berlin");
const at = (iso: string): number => Date.parse(iso);
const dayOf = (iso: string): number => Math.floor(at(`${iso}T00:00Z`) / 86_400_000);
const iso = (ms: number): string => new Date(ms).toISOString();

it("knows the names of time zones", () => {
  expect(localTime("Europe/Berlin")).not.toBeNull();
  expect(localTime("Berlin")).toBeNull();
  expect(localTime("")).toBeNull();
});

it("tells the day on the calendar there", () => {
  expect(berlin.dayOf(at("2026-06-30T22:00Z"))).toBe(dayOf("2026-07-01"));
  expect(berlin.dayOf(at("2026-06-30T21:59:59Z"))).toBe(dayOf("2026-06-30"));
  expect(zone("America/New_York").dayOf(at("2026-07-01T03:00Z"))).toBe(dayOf("2026-06-30"));
});

it("gives instants of times there in winter and in summer", () => {
  expect(iso(berlin.instantOf(dayOf("2026-01-15"), 7.5 * 3600))).toBe("2026-01-15T06:30:00.000Z");
  expect(iso(berlin.instantOf(dayOf("2026-07-15"), 7.5 * 3600))).toBe("2026-07-15T05:30:00.000Z");
  expect(iso(zone("Asia/Kathmandu").instantOf(dayOf("2026-07-15"), 0))).toBe("2026-07-14T18:15:00.000Z");
});

it("takes the moment of setting for a time that is left out when clocks are set forward", () => {
  // 29 March 2026: 02:00 becomes 03:00.
  for (const hour of [2, 2.5]) expect(iso(berlin.instantOf(dayOf("2026-03-29"), hour * 3600))).toBe("2026-03-29T01:00:00.000Z");
  expect(iso(berlin.instantOf(dayOf("2026-03-29"), 3 * 3600))).toBe("2026-03-29T01:00:00.000Z");
  expect(iso(berlin.instantOf(dayOf("2026-03-29"), 3.5 * 3600))).toBe("2026-03-29T01:30:00.000Z");
});

it("takes the first of two moments that show the same time when clocks are set back", () => {
  // 25 October 2026: 03:00 becomes 02:00.
  expect(iso(berlin.instantOf(dayOf("2026-10-25"), 2.5 * 3600))).toBe("2026-10-25T00:30:00.000Z");
  expect(iso(berlin.instantOf(dayOf("2026-10-25"), 3 * 3600))).toBe("2026-10-25T02:00:00.000Z");
});

it("counts 23 and 25 hours where clocks are set", () => {
  const hoursOf = (day: string): number => (berlin.instantOf(dayOf(day) + 1, 0) - berlin.instantOf(dayOf(day), 0)) / 3_600_000;
  expect([hoursOf("2026-03-29"), hoursOf("2026-10-25"), hoursOf("2026-06-01")]).toEqual([23, 25, 24]);
});

it("gives instants that are the day and time they were asked for, wherever that time is shown", () => {
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns", "UTC"].map(zone);
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 19_000, max: 22_000 }),
      fc.integer({ min: 0, max: 86_399 }),
      (local, day, seconds) => {
        const instant = local.instantOf(day, seconds);
        expect(local.dayOf(instant)).toBe(day);
        expect(local.instantOf(day, Math.min(86_399, seconds + 60))).toBeGreaterThanOrEqual(instant);
      },
    ),
  );
});

it("cuts parts of days out of a span, over midnight too, and covers it with parts that make up a day", () => {
  const span = { fromMs: at("2026-03-28T10:00Z"), toMs: at("2026-03-30T10:00Z") };
  const nights = daily({ fromHour: 20, toHour: 8 }, span, berlin).map(({ fromMs, toMs }) => [iso(fromMs), iso(toMs)]);
  expect(nights).toEqual([
    ["2026-03-28T19:00:00.000Z", "2026-03-29T06:00:00.000Z"],
    ["2026-03-29T18:00:00.000Z", "2026-03-30T06:00:00.000Z"],
  ]);
  const parts = [...daily({ fromHour: 8, toHour: 20 }, span, berlin), ...daily({ fromHour: 20, toHour: 8 }, span, berlin)];
  expect(parts.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)).toBe(span.toMs - span.fromMs);
});

it("has no hour from two to three on the day on which it is left out, and two of them when it comes twice", () => {
  const hours = (day: string): number =>
    daily({ fromHour: 2, toHour: 3 }, { fromMs: at(`${day}T00:00Z`) - 7_200_000, toMs: at(`${day}T12:00Z`) }, berlin).reduce(
      (sum, { fromMs, toMs }) => sum + (toMs - fromMs) / 3_600_000,
      0,
    );
  expect([hours("2026-03-29"), hours("2026-10-25"), hours("2026-06-01")]).toEqual([0, 2, 1]);
});
