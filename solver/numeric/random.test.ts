import fc from "fast-check";
import { expect, test } from "vitest";
import { mean } from "./quantile";
import { mixSeed, seededRandom } from "./random";

const draws = (count: number, draw: () => number): Float64Array => Float64Array.from({ length: count }, draw);
const variance = (values: Float64Array): number => {
  const center = mean(values);
  return mean(values.map((value) => (value - center) ** 2));
};

test("the same seed gives the same stream, another seed another one", () => {
  const first = seededRandom(42);
  const again = seededRandom(42);
  const other = seededRandom(43);
  const stream = draws(50, first.next);
  expect(stream).toEqual(draws(50, again.next));
  expect(stream).not.toEqual(draws(50, other.next));
});

test("draws stay inside their ranges for any seed", () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 1000 }), (seed, n) => {
      const random = seededRandom(seed);
      for (let draw = 0; draw < 50; draw++) {
        const uniform = random.next();
        const integer = random.int(n);
        expect(uniform >= 0 && uniform < 1).toBe(true);
        expect(Number.isInteger(integer) && integer >= 0 && integer < n).toBe(true);
        expect(random.exponential(2)).toBeGreaterThanOrEqual(0);
        expect(random.lognormal(0, 1)).toBeGreaterThan(0);
      }
    }),
  );
});

test("the moments of every distribution are those of its definition", () => {
  const random = seededRandom(1);
  const normals = draws(100_000, random.normal);
  expect(mean(normals)).toBeCloseTo(0, 1);
  expect(variance(normals)).toBeCloseTo(1, 1);
  expect(mean(draws(100_000, random.next))).toBeCloseTo(0.5, 2);
  expect(mean(draws(100_000, () => random.exponential(4)))).toBeCloseTo(0.25, 2);
  expect(mean(draws(100_000, () => Math.log(random.lognormal(2, 0.5))))).toBeCloseTo(2, 2);
  expect(mean(draws(100_000, () => random.int(7)))).toBeCloseTo(3, 1);
});

test("mixed seeds tell their parts apart, in order and in type", () => {
  const seeds = [mixSeed(1, 23), mixSeed(12, 3), mixSeed(3, 12), mixSeed("1", 23), mixSeed(123), mixSeed("ab", "c"), mixSeed("a", "bc")];
  expect(new Set(seeds).size).toBe(seeds.length);
  expect(mixSeed(5, "split")).toBe(mixSeed(5, "split"));
});

test("a seed that is no number is refused with its value", () => {
  expect(() => seededRandom(Number.NaN)).toThrow("found NaN");
});
