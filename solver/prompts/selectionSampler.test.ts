import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { selectionSampler } from "./selectionSampler";

const countsOf = (strata: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const stratum of strata) counts.set(stratum, (counts.get(stratum) ?? 0) + 1);
  return counts;
};
const taken = (strata: readonly string[], size: number, seed: number): readonly number[] => {
  const sampler = selectionSampler(countsOf(strata), size, seed);
  return strata.flatMap((stratum, at) => (sampler.take(stratum) ? [at] : []));
};

test("one pass takes exactly what each stratum was allocated, whatever the order", () => {
  const strata = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 300 });
  fc.assert(
    fc.property(strata, fc.integer({ min: 0, max: 400 }), fc.integer(), (order, size, seed) => {
      const chosen = countsOf(taken(order, size, seed).map((at) => order[at] ?? ""));
      for (const [stratum, share] of selectionSampler(countsOf(order), size, seed).allocation) expect(chosen.get(stratum) ?? 0).toBe(share);
    }),
  );
});

test("the same seed takes the same ones, another seed others", () => {
  const strata = Array.from({ length: 500 }, (_, at) => (at % 7 === 0 ? "rare" : "usual"));
  expect(taken(strata, 50, 1)).toEqual(taken(strata, 50, 1));
  expect(taken(strata, 50, 1)).not.toEqual(taken(strata, 50, 2));
});

test("each one of a stratum is taken equally often", () => {
  const strata = Array.from({ length: 20 }, () => "s");
  const times = strata.map(() => 0);
  const random = seededRandom(3);
  const runs = 8000;
  for (let run = 0; run < runs; run++) for (const at of taken(strata, 5, random.int(2 ** 31))) times[at] = (times[at] ?? 0) + 1;
  // A quarter each; the standard deviation of such a share is 0.005.
  for (const count of times) expect(Math.abs(count / runs - 0.25)).toBeLessThan(0.025);
});

test("more than were counted is a mistake of the caller", () => {
  const sampler = selectionSampler(new Map([["s", 1]]), 1, 1);
  expect(sampler.take("s")).toBe(true);
  expect(() => sampler.take("s")).toThrow("More of the stratum s came");
});
