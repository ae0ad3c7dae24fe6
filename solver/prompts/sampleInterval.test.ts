import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { sampleInterval, sizeFor } from "./sampleInterval";

test("the interval narrows as the sample grows and is none when all are taken", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 1_000_000 }), fc.integer({ min: 1, max: 20_000 }), (population, sampled) => {
      fc.pre(sampled < population);
      const { points } = sampleInterval(sampled, population);
      expect(sampleInterval(sampled + 1, population).points).toBeLessThanOrEqual(points);
      expect(sampleInterval(population, population).points).toBe(0);
      expect(points).toBeLessThanOrEqual(50);
    }),
  );
});

test("500 of very many are worth 3.7 points", () => {
  expect(sampleInterval(500, 10_000_000).points).toBeCloseTo(3.68, 2);
  expect(sampleInterval(0, 10).points).toBe(50);
});

test("the size for some points is the smallest that gives them", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.2, max: 49, noNaN: true }), fc.integer({ min: 2, max: 1_000_000 }), (points, population) => {
      const size = sizeFor(points, population);
      expect(sampleInterval(size, population).points).toBeLessThanOrEqual(points);
      if (size > 1) expect(sampleInterval(size - 1, population).points).toBeGreaterThan(points);
    }),
  );
});

test("it covers the true mean of half right, half wrong in about nine samples of ten", () => {
  const random = seededRandom(5);
  const [population, sampled, trials] = [1000, 200, 2000];
  let covered = 0;
  for (let trial = 0; trial < trials; trial++) {
    // The first half is right; a sample without replacement by selection.
    let taken = 0;
    let right = 0;
    for (let at = 0; at < population; at++) {
      if (random.next() * (population - at) >= sampled - taken) continue;
      taken += 1;
      if (at < population / 2) right += 1;
    }
    if (Math.abs((100 * right) / sampled - 50) <= sampleInterval(sampled, population).points) covered += 1;
  }
  expect(covered / trials).toBeGreaterThan(0.87);
  expect(covered / trials).toBeLessThan(0.94);
});
