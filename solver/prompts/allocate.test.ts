import * as fc from "fast-check";
import { expect, test } from "vitest";
import { allocate } from "./allocate";

const count = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 1_000_000 }));
const strata = fc.array(count, { maxLength: 60 }).map((counts) => new Map(counts.map((one, at) => [`s${at}`, one])));
const size = fc.integer({ min: 0, max: 20_000 });
const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((total, one) => total + one, 0);

test("shares add up to the size, or to all there is, and each is its proportion rounded down or up", () => {
  fc.assert(
    fc.property(strata, size, fc.integer(), (counts, wanted, seed) => {
      const shares = allocate(counts, wanted, seed);
      const taken = Math.min(wanted, sum(counts));
      expect(sum(shares)).toBe(taken);
      expect([...shares.keys()]).toEqual([...counts.keys()]);
      for (const [name, share] of shares) {
        const ofStratum = counts.get(name) ?? 0;
        expect(Number.isInteger(share) && share >= 0 && share <= ofStratum).toBe(true);
        expect(Math.abs(share - (ofStratum * taken) / Math.max(1, sum(counts)))).toBeLessThan(1);
      }
    }),
  );
});

test("the order in which strata come changes nothing", () => {
  fc.assert(
    fc.property(strata, size, fc.integer(), (counts, wanted, seed) => {
      const backwards = allocate(new Map([...counts].reverse()), wanted, seed);
      for (const [name, share] of allocate(counts, wanted, seed)) expect(backwards.get(name)).toBe(share);
    }),
  );
});

test("what is small gets one as often as is its due", () => {
  const counts = new Map([["a", 9_000], ["b", 700], ...Array.from({ length: 29 }, (_, at) => [`small ${at}`, 10] as const), ["z", 10]]);
  const runs = 4000;
  const total = new Map<string, number>();
  for (let seed = 0; seed < runs; seed++) {
    for (const [name, share] of allocate(counts, 30, seed)) total.set(name, (total.get(name) ?? 0) + share);
  }
  expect((total.get("a") ?? 0) / runs).toBeCloseTo(27, 1);
  expect((total.get("b") ?? 0) / runs).toBeCloseTo(2.1, 1);
  // 0.03 each; the standard deviation of such a share is 0.0027.
  for (const [name, ofAll] of total) if (counts.get(name) === 10) expect(Math.abs(ofAll / runs - 0.03)).toBeLessThan(0.011);
});

test("strata of one category, side by side by name, get its proportion together", () => {
  const categories = Array.from({ length: 8 }, (_, at) => `c${at}`);
  const counts = new Map(categories.flatMap((category) => Array.from({ length: 20 }, (_, band) => [`${category}, ${band}`, 50] as const)));
  for (let seed = 0; seed < 50; seed++) {
    const shares = [...allocate(counts, 80, seed)];
    for (const category of categories) {
      const together = shares.filter(([name]) => name.startsWith(`${category},`)).reduce((all, [, share]) => all + share, 0);
      expect(Math.abs(together - 10)).toBeLessThanOrEqual(1);
    }
  }
});

test("all proportions whole are given as they are, and nothing where there is nothing", () => {
  const counts = new Map([
    ["law", 1000],
    ["maths", 9000],
  ]);
  expect([...allocate(counts, 500, 3)]).toEqual([
    ["law", 50],
    ["maths", 450],
  ]);
  expect([...allocate(new Map([["none", 0]]), 5, 1)]).toEqual([["none", 0]]);
});
