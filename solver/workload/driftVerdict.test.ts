import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "../numeric/random";
import { quantileInterval, shareInterval } from "./driftIntervals";
import { verdictOf } from "./driftVerdict";

const figure = (value: number, half: number, count = 500) => ({ value, low: value - half, high: value + half, count });
const enough = { broken: 50, kept: 100 };
const p95 = { low: 5, high: 7, better: "lower" } as const;

test("a figure is broken only when its whole interval lies beyond the band, on the side that matters", () => {
  expect(verdictOf(figure(9, 1), p95, enough)).toBe("broken");
  expect(verdictOf(figure(9, 3), p95, enough)).toBe("too little measured");
  expect(verdictOf(figure(3, 1), p95, enough)).toBe("kept");
  expect(verdictOf(figure(3, 1), { ...p95, better: "higher" }, enough)).toBe("broken");
  expect(verdictOf(figure(3, 1), { ...p95, better: "neither" }, enough)).toBe("broken");
});

test("nothing is called kept before enough was seen", () => {
  expect(verdictOf(figure(6, 0.1, 99), p95, enough)).toBe("too little measured");
  expect(verdictOf(figure(6, 0.1, 100), p95, enough)).toBe("kept");
  expect(verdictOf(null, p95, { broken: 0, kept: 0 })).toBe("too little measured");
});

test("nothing is called broken before enough was seen", () => {
  expect(verdictOf(figure(9, 0.1, 49), p95, enough)).toBe("too little measured");
  expect(verdictOf(figure(9, 0.1, 50), p95, enough)).toBe("broken");
});

test("a share that is as planned is called broken by one window of requests in a hundred at most, however few they are", () => {
  for (const planned of [0.02, 0.172, 0.5, 0.941]) {
    const band = { low: Math.max(0, planned - 0.03), high: Math.min(1, planned + 0.03), better: "neither" } as const;
    for (const count of [10, 20, 50, 200, 1000]) {
      const broken = Array.from({ length: 600 }, (_, seed) => {
        const random = seededRandom(1000 * count + seed);
        const reached = Array.from({ length: count }, () => (random.next() < planned ? 1 : 0));
        return verdictOf(shareInterval(reached), band, { broken: 0, kept: 0 });
      }).filter((verdict) => verdict === "broken").length;
      expect(broken / 600, `${planned} of ${count}`).toBeLessThanOrEqual(0.01);
    }
  }
});

test("a p95 that is as planned is called broken by two windows in a hundred at most from 10 requests on", () => {
  const band = { low: 0, high: Math.exp(1.6449), better: "lower" } as const;
  for (const count of [10, 15, 25, 50, 100]) {
    const broken = Array.from({ length: 1000 }, (_, seed) => {
      const random = seededRandom(1000 * count + seed);
      const seconds = Array.from({ length: count }, () => random.lognormal(0, 1));
      return verdictOf(quantileInterval(seconds, 0.95), band, { broken: 10, kept: 100 });
    }).filter((verdict) => verdict === "broken").length;
    expect(broken / 1000, `${count} requests`).toBeLessThanOrEqual(0.02);
  }
});

test("a narrower interval around the same figure never turns broken into kept or kept into broken", () => {
  const value = fc.double({ min: 0, max: 12, noNaN: true });
  fc.assert(
    fc.property(value, value, fc.double({ min: 0, max: 1, noNaN: true }), (at, half, narrower) => {
      const before = verdictOf(figure(at, half), p95, enough);
      if (before !== "too little measured") expect(verdictOf(figure(at, half * narrower), p95, enough)).toBe(before);
    }),
  );
});
