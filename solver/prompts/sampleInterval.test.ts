import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { countStrata } from "./countStrata";
import { sampleInterval } from "./sampleInterval";
import { selectionSampler } from "./selectionSampler";
import type { PromptFacts, Stratifier } from "./stratumOf";

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

/** Prompts of 40 categories, each much rarer than the previous one; the commonest are answered well and the rare ones badly. */
function skewedPrompts(total: number): readonly (PromptFacts & { readonly quality: number })[] {
  const random = seededRandom(7);
  const sizes = Array.from({ length: 40 }, (_, rank) => (rank + 1) ** -2);
  const whole = sizes.reduce((sum, one) => sum + one, 0);
  return Array.from({ length: total }, () => {
    let [rank, left] = [0, random.next() * whole - 1];
    while (left > 0 && rank < 39) left -= sizes[++rank] ?? 0;
    const quality = random.next() < (rank === 0 ? 0.9 : rank < 3 ? 0.6 : 0.2) ? 100 : 0;
    return { category: `c${rank}`, characters: Math.round(random.lognormal(6, 1.2)), atMs: random.int(86_400_000), quality };
  });
}

/** Deviation of the plain mean of stratified samples from the mean of all: for each of so many seeds. */
function misses(all: readonly (PromptFacts & { readonly quality: number })[], by: readonly Stratifier[], size: number, seeds: number) {
  const counted = countStrata();
  for (const one of all) counted.add(one);
  const strata = counted.strataBy(by);
  const names = all.map((one) => strata.of(one));
  const truth = all.reduce((sum, { quality }) => sum + quality, 0) / all.length;
  return Array.from({ length: seeds }, (_, seed) => {
    const sampler = selectionSampler(strata.counts, size, seed);
    let sum = 0;
    all.forEach(({ quality }, at) => {
      if (sampler.take(names[at] ?? "")) sum += quality;
    });
    return sum / size - truth;
  });
}

test.each([
  { by: ["category"], size: 100 },
  { by: ["category", "length"], size: 100 },
  { by: ["category", "length", "time"], size: 300 },
] as const)("it covers the true mean over strata of very unequal sizes: $size by $by", ({ by, size }) => {
  const all = skewedPrompts(20_000);
  const missed = misses(all, by, size, 200);
  const { points } = sampleInterval(size, all.length);
  // Ninety of a hundred, and more where strata narrow it; the standard deviation of that share is two.
  expect(missed.filter((miss) => Math.abs(miss) <= points).length / missed.length).toBeGreaterThan(0.85);
  // The mean of 200 such means is about fourteen times as accurate as one of them.
  expect(Math.abs(missed.reduce((sum, miss) => sum + miss, 0) / missed.length)).toBeLessThan(points / 5);
});

test("it covers the true mean where strata beside each other are as unlike as can be and each is due half a prompt", () => {
  const all = Array.from({ length: 20_000 }, (_, at) => {
    const stratum = at % 200;
    return { category: `c${String(stratum >> 2).padStart(2, "0")}`, characters: 64 << (stratum & 3), atMs: null, quality: 100 * (at & 1) };
  });
  const missed = misses(all, ["category", "length"], 100, 300);
  const covered = missed.filter((miss) => Math.abs(miss) <= sampleInterval(100, all.length).points).length / missed.length;
  expect(covered).toBeGreaterThan(0.85);
});
