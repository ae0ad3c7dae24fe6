import * as fc from "fast-check";
import { expect, test } from "vitest";
import { allocate } from "./allocate";

const strata = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 1_000_000 })), { maxLength: 60 });
const size = fc.integer({ min: 0, max: 20_000 });
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test("shares add up to the size, or to all there is, and none is more than there are", () => {
  fc.assert(
    fc.property(strata, size, (counts, wanted) => {
      const shares = allocate(counts, wanted);
      expect(sum(shares)).toBe(Math.min(wanted, sum(counts)));
      shares.forEach((share, at) => {
        expect(Number.isInteger(share) && share >= 0 && share <= (counts[at] ?? 0)).toBe(true);
      });
    }),
  );
});

test("every stratum that has any gets one where the size allows", () => {
  fc.assert(
    fc.property(strata, size, (counts, wanted) => {
      const filled = counts.filter((count) => count > 0).length;
      fc.pre(Math.min(wanted, sum(counts)) >= filled);
      allocate(counts, wanted).forEach((share, at) => {
        expect(share > 0).toBe((counts[at] ?? 0) > 0);
      });
    }),
  );
});

test("without small strata each share is the proportion, rounded down or up", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 40 }), size, (counts, wanted) => {
      const total = sum(counts);
      fc.pre(wanted <= total && counts.every((count) => count * wanted >= total));
      allocate(counts, wanted).forEach((share, at) => {
        expect(Math.abs(share - ((counts[at] ?? 0) * wanted) / total)).toBeLessThan(1);
      });
    }),
  );
});

test("a larger stratum never gets less than a smaller one", () => {
  fc.assert(
    fc.property(strata, size, (counts, wanted) => {
      const shares = allocate(counts, wanted);
      const byCount = counts.map((count, at) => ({ count, share: shares[at] ?? 0 })).sort((a, b) => a.count - b.count);
      byCount.forEach(({ count, share }, at) => {
        const next = byCount[at + 1];
        if (next !== undefined && next.count > count) expect(next.share).toBeGreaterThanOrEqual(share);
      });
    }),
  );
});

test("fewer than there are strata go to the largest", () => {
  expect(allocate([5, 900, 5, 800, 5], 2)).toEqual([0, 1, 0, 1, 0]);
  expect(allocate([1, 1, 1], 2)).toEqual([1, 1, 0]);
});

test("what small strata get is taken off the large ones", () => {
  expect(allocate([1, 1, 9_998], 100)).toEqual([1, 1, 98]);
  expect(allocate([0, 0], 5)).toEqual([0, 0]);
});
