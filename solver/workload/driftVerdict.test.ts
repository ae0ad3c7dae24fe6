import * as fc from "fast-check";
import { expect, test } from "vitest";
import { verdictOf } from "./driftVerdict";

const figure = (value: number, half: number, count = 500) => ({ value, low: value - half, high: value + half, count });
const p95 = { low: 5, high: 7, better: "lower" } as const;

test("a figure is broken only when its whole interval lies beyond the band, on the side that matters", () => {
  expect(verdictOf(figure(9, 1), p95, 100)).toBe("broken");
  expect(verdictOf(figure(9, 3), p95, 100)).toBe("too little measured");
  expect(verdictOf(figure(3, 1), p95, 100)).toBe("kept");
  expect(verdictOf(figure(3, 1), { ...p95, better: "higher" }, 100)).toBe("broken");
  expect(verdictOf(figure(3, 1), { ...p95, better: "neither" }, 100)).toBe("broken");
});

test("nothing is called kept before enough was seen", () => {
  expect(verdictOf(figure(6, 0.1, 99), p95, 100)).toBe("too little measured");
  expect(verdictOf(figure(6, 0.1, 100), p95, 100)).toBe("kept");
  expect(verdictOf(null, p95, 0)).toBe("too little measured");
});

test("a narrower interval around the same figure never turns broken into kept or kept into broken", () => {
  const value = fc.double({ min: 0, max: 12, noNaN: true });
  fc.assert(
    fc.property(value, value, fc.double({ min: 0, max: 1, noNaN: true }), (at, half, narrower) => {
      const before = verdictOf(figure(at, half), p95, 100);
      if (before !== "too little measured") expect(verdictOf(figure(at, half * narrower), p95, 100)).toBe(before);
    }),
  );
});
