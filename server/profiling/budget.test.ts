import fc from "fast-check";
import { expect, it } from "vitest";
import { Budget } from "./budget";
import { Pace } from "./pace";

it("never lets what is spent and what is under way pass the cap, whatever calls come to cost", () => {
  const usd = fc.double({ min: 0, max: 1, noNaN: true });
  const steps = fc.array(fc.oneof(fc.record({ most: usd, share: usd }), fc.record({ ends: fc.nat() })), { maxLength: 200 });
  fc.assert(
    fc.property(fc.double({ min: 0, max: 5, noNaN: true }), usd, steps, (cap, before, all) => {
      const budget = new Budget(Math.min(before, cap), cap);
      const underWay: { readonly most: number; readonly share: number }[] = [];
      let spent = budget.spentUsd;
      for (const step of all) {
        if ("most" in step) {
          if (budget.reserve(step.most)) underWay.push(step);
        } else {
          const [ended] = underWay.splice(step.ends % Math.max(1, underWay.length), 1);
          if (ended === undefined) continue;
          budget.settle(ended.most, ended.most * ended.share);
          spent += ended.most * ended.share;
        }
        expect(budget.atMostUsd).toBeLessThanOrEqual(cap + 1e-9);
        expect(budget.spentUsd).toBeCloseTo(spent, 9);
      }
      const open = underWay.reduce((sum, { most }) => sum + most, 0);
      expect(budget.atMostUsd).toBeCloseTo(spent + open, 9);
    }),
  );
});

it("makes no more calls in any minute than asked, but for those of a moment, and loses no time", () => {
  const gaps = fc.array(fc.double({ min: 0, max: 3000, noNaN: true }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), gaps, (perMinute, all) => {
      const pace = new Pace(perMinute);
      const made: number[] = [];
      let now = 0;
      for (const gap of all) {
        now += gap;
        const waitMs = pace.waitMs(now);
        now += waitMs;
        expect(pace.waitMs(now)).toBeLessThan(1e-6);
        pace.made(now);
        made.push(now);
      }
      const tolerated = 1 + Math.ceil((50 * perMinute) / 60_000);
      for (const [at, from] of made.entries())
        expect(made.slice(at).filter((time) => time < from + 60_000).length).toBeLessThanOrEqual(perMinute + tolerated);
    }),
  );
});
