import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBetterHigh, type PlanAxis, type PlanFigures, paretoFront, planAxes } from "./paretoFront";

/** Few distinct values, so that there are ties. */
const plan: fc.Arbitrary<PlanFigures> = fc.record({
  quality: fc.integer({ min: 60, max: 70 }),
  latency: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(Number.POSITIVE_INFINITY)),
  cost: fc.integer({ min: 1, max: 8 }),
  gpus: fc.integer({ min: 1, max: 8 }),
});
const pair = fc.shuffledSubarray([...planAxes], { minLength: 2, maxLength: 2 }) as fc.Arbitrary<[PlanAxis, PlanAxis]>;

const atLeastAsGood = (axis: PlanAxis, a: PlanFigures, b: PlanFigures) => (isBetterHigh(axis) ? a[axis] >= b[axis] : a[axis] <= b[axis]);
const same = (axes: readonly PlanAxis[], a: PlanFigures, b: PlanFigures) => axes.every((axis) => a[axis] === b[axis]);

describe("paretoFront", () => {
  it("holds no plan that another is at least as good as on both axes and better on one", () => {
    fc.assert(
      fc.property(fc.array(plan), pair, (plans, axes) => {
        for (const index of paretoFront(plans, axes)) {
          const own = plans[index] as PlanFigures;
          const beaten = plans.some(
            (each) => !same(axes, each, own) && axes.every((axis) => Number.isFinite(each[axis]) && atLeastAsGood(axis, each, own)),
          );
          expect(beaten).toBe(false);
        }
      }),
    );
  });

  it("leaves out only plans that do not keep up or that one in it is at least as good as", () => {
    fc.assert(
      fc.property(fc.array(plan), pair, (plans, axes) => {
        const front = paretoFront(plans, axes).map((index) => plans[index] as PlanFigures);
        for (const each of plans) {
          if (axes.some((axis) => !Number.isFinite(each[axis]))) continue;
          expect(front.some((own) => axes.every((axis) => atLeastAsGood(axis, own, each)))).toBe(true);
        }
      }),
    );
  });

  it("rises on its first axis, and says the same with the axes exchanged", () => {
    fc.assert(
      fc.property(fc.array(plan), pair, (plans, [first, second]) => {
        const values = paretoFront(plans, [first, second]).map((index) => plans[index]?.[first] ?? Number.NaN);
        for (const [at, value] of values.entries()) if (at > 0) expect(value).toBeGreaterThan(values[at - 1] ?? Number.NaN);
        const figures = (indices: readonly number[]) => indices.map((index) => `${plans[index]?.[first]} ${plans[index]?.[second]}`).sort();
        expect(figures(paretoFront(plans, [second, first]))).toEqual(figures(paretoFront(plans, [first, second])));
      }),
    );
  });
});
