import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBetterHigh, type PlanAxis, type PlanFigures, planAxes } from "@/solver/cascade/explore/paretoFront";
import type { FrontierAxes } from "./frontierAxes";
import { type PlottedPlan, prepareFrontier, stepCorners } from "./prepareFrontier";

const axes: FrontierAxes = { x: "quality", y: "latency" };
const limits = { qualityFloor: 80, latencyBudgetSeconds: null };

function plan(key: string, quality: number, latency: number, more: Partial<PlanFigures & { standAloneModel: number }> = {}): PlottedPlan {
  const { standAloneModel = null, cost = 0.001, gpus = 8 } = more;
  return { key, standAloneModel, figures: { quality, latency, cost, gpus } };
}

function picture(plans: readonly PlottedPlan[], more: Partial<Parameters<typeof prepareFrontier>[0]> = {}) {
  return prepareFrontier({ plans, axes, limits, chosen: null, own: null, running: null, baselines: [], ...more });
}

const keys = (points: readonly { readonly key: string }[]) => points.map((point) => point.key);

const figures: fc.Arbitrary<PlanFigures> = fc.record({
  quality: fc.integer({ min: 60, max: 90 }),
  latency: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 1, max: 20 }) },
    { weight: 1, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
  ),
  cost: fc.integer({ min: 1, max: 20 }),
  gpus: fc.integer({ min: 1, max: 20 }),
});
const plansOf = fc
  .array(figures, { maxLength: 40 })
  .map((all) => all.map((each, index) => ({ key: `${index}`, figures: each, standAloneModel: null })));
const pair = fc.shuffledSubarray([...planAxes], { minLength: 2, maxLength: 2 }).map(([x, y]) => ({ x, y }) as FrontierAxes);
const someLimits = fc.record({
  qualityFloor: fc.option(fc.integer({ min: 55, max: 95 })),
  latencyBudgetSeconds: fc.option(fc.integer({ min: 1, max: 25 })),
});
const better = (axis: PlanAxis, a: PlanFigures, b: PlanFigures) => (isBetterHigh(axis) ? a[axis] > b[axis] : a[axis] < b[axis]);

describe("prepareFrontier", () => {
  it("greys out what misses the floor without removing it", () => {
    const drawn = picture([plan("low", 79.5, 3.1), plan("high", 85, 3)]);
    expect(keys(drawn.infeasible)).toEqual(["low"]);
    expect(drawn.counts).toMatchObject({ evaluated: 2, feasible: 1 });
  });

  it("greys out what the latency budget forbids without removing it", () => {
    const drawn = picture([plan("fast", 85, 4), plan("slow", 86, 9)], {
      limits: { qualityFloor: null, latencyBudgetSeconds: 5 },
      axes: { x: "quality", y: "gpus" },
    });
    expect(keys(drawn.infeasible)).toEqual(["slow"]);
    expect(drawn.counts.feasible).toBe(1);
  });

  it("keeps frontier points beyond a line that is drawn, hollow", () => {
    const drawn = picture([plan("cheap", 70, 2), plan("good", 85, 4)]);
    expect(drawn.frontier.map((point) => [point.key, point.meets])).toEqual([
      ["cheap", false],
      ["good", true],
    ]);
  });

  it("holds a floor that no axis shows: what misses it is on no frontier", () => {
    const plans = [plan("small", 70, 2, { cost: 1 }), plan("good", 85, 4, { cost: 3 }), plan("slow", 86, 6, { cost: 2 })];
    const drawn = picture(plans, { axes: { x: "latency", y: "cost" } });
    expect(keys(drawn.frontier)).toEqual(["good", "slow"]);
    expect(keys(drawn.infeasible)).toEqual(["small"]);
    expect(drawn.limits).toEqual([]);
  });

  it("has no frontier point that another allowed plan beats on both axes", () => {
    fc.assert(
      fc.property(plansOf, pair, someLimits, (plans, chosenAxes, asked) => {
        const drawn = picture(plans, { axes: chosenAxes, limits: asked });
        const shown = (axis: PlanAxis) => chosenAxes.x === axis || chosenAxes.y === axis;
        const allowed = plans.filter(
          ({ figures: { quality, latency } }) =>
            Number.isFinite(latency) &&
            (shown("quality") || quality >= (asked.qualityFloor ?? 0)) &&
            (shown("latency") || latency <= (asked.latencyBudgetSeconds ?? Number.MAX_VALUE)),
        );
        for (const point of drawn.frontier) {
          const own = plans[Number(point.key)]?.figures as PlanFigures;
          expect(allowed.some((each) => better(chosenAxes.x, each.figures, own) && better(chosenAxes.y, each.figures, own))).toBe(false);
        }
        if (allowed.length > 0) expect(drawn.frontier.length).toBeGreaterThan(0);
      }),
    );
  });

  it("gives every plan that keeps up one class, and counts those that meet floor and budget whatever the axes", () => {
    fc.assert(
      fc.property(plansOf, pair, someLimits, (plans, chosenAxes, asked) => {
        const drawn = picture(plans, { axes: chosenAxes, limits: asked });
        expect(drawn.points).toHaveLength(plans.length - drawn.counts.overloaded);
        expect(drawn.counts.feasible).toBe(picture(plans, { limits: asked }).counts.feasible);
      }),
    );
  });

  it("draws floor and budget as lines on whichever axis holds them", () => {
    const asked = { qualityFloor: 80, latencyBudgetSeconds: 5 };
    const lines = (chosenAxes: FrontierAxes) => picture([plan("a", 85, 4)], { axes: chosenAxes, limits: asked }).limits;
    expect(lines({ x: "quality", y: "latency" })).toEqual([
      { kind: "floor", along: "x", value: 80 },
      { kind: "budget", along: "y", value: 5 },
    ]);
    expect(lines({ x: "latency", y: "quality" })).toEqual([
      { kind: "floor", along: "y", value: 80 },
      { kind: "budget", along: "x", value: 5 },
    ]);
    expect(lines({ x: "cost", y: "gpus" })).toEqual([]);
  });

  it("names the frontier's sharpest bend the knee, and none where there is no bend", () => {
    const bent = [plan("first", 70, 1), plan("knee", 84, 2), plan("last", 85, 10)];
    expect(picture(bent).knee?.key).toBe("knee");
    expect(picture(bent, { axes: { x: "latency", y: "quality" } }).knee?.key).toBe("knee");
    expect(picture([plan("first", 70, 1), plan("mid", 75, 2), plan("last", 80, 3)]).knee).toBeNull();
    // The frontier bulges the wrong way: its middle is worse than a mixture of its ends.
    expect(picture([plan("first", 70, 1), plan("mid", 71, 9), plan("last", 85, 10)]).knee).toBeNull();
  });

  it("counts plans that cannot keep up instead of drawing them at some height", () => {
    const drawn = picture([plan("a", 85, 4), plan("b", 90, Number.POSITIVE_INFINITY)]);
    expect(drawn.counts.overloaded).toBe(1);
    expect(drawn.yDomain[1]).toBeLessThan(5);
  });

  it("keeps one slow stand-alone model from flattening the frontier, and says that it lies outside", () => {
    const drawn = picture([plan("a", 85, 4), plan("b", 80, 400, { standAloneModel: 1 })]);
    expect(drawn.yDomain[1]).toBeLessThan(10);
    expect(drawn.standAlone).toHaveLength(0);
    expect(drawn.counts.outside).toBe(1);
  });

  it("draws baselines by their numbers, and leaves out on a latency axis what does not keep up", () => {
    const baseline = (number: number, latency: number) => ({
      key: `baseline ${number}`,
      number,
      figures: { quality: 82, latency, cost: 0.002, gpus: 8 },
    });
    const baselines = [baseline(1, 6), baseline(2, Number.POSITIVE_INFINITY)];
    const drawn = picture([plan("a", 85, 4)], { baselines });
    expect(drawn.baselines).toEqual([{ keys: ["baseline 1"], label: "1", x: 82, y: 6 }]);
    expect(drawn.yDomain[1]).toBeGreaterThan(6);
    const byCost = picture([plan("a", 85, 4)], { baselines, axes: { x: "quality", y: "cost" } }).baselines;
    // At the same cost and quality they coincide; one point names both.
    expect(byCost).toEqual([{ keys: ["baseline 1", "baseline 2"], label: "1, 2", x: 82, y: 0.002 }]);
  });

  describe("with slack dispatch", () => {
    const dispatch = (tau: number, quality: number, latency: number, more: Partial<PlottedPlan> = {}): PlottedPlan => ({
      ...plan(`tau ${tau}`, quality, latency),
      dispatch: { tau, onCurve: true },
      ...more,
    });

    it("draws its curve by rising tau, and puts on the frontier what no cascade beats", () => {
      const drawn = picture([plan("cascade", 85, 4), dispatch(2, 86, 6), dispatch(0, 82, 3), dispatch(1, 84, 5)]);
      expect(drawn.curve.map(({ tau }) => tau)).toEqual([0, 1, 2]);
      expect(keys(drawn.frontier)).toEqual(["tau 0", "cascade", "tau 2"]);
      expect(keys(drawn.dispatch)).toEqual(["tau 2", "tau 0", "tau 1"]);
      expect(keys([...drawn.dominated, ...drawn.infeasible])).toEqual([]);
    });

    it("draws other allocations in the cloud unless they are on the frontier", () => {
      const other = dispatch(1, 84, 4.2, { dispatch: { tau: 1, onCurve: false } });
      const drawn = picture([plan("cascade", 85, 4), other]);
      expect(keys(drawn.dominated)).toEqual(["tau 1"]);
      expect(keys(drawn.dispatch)).toEqual([]);
    });

    it("keeps a kind that is not asked for in view and off the frontier, and counts only what is asked for", () => {
      const drawn = picture([
        plan("cascade", 85, 4),
        { ...plan("alone", 90, 1, { standAloneModel: 0 }), asked: false },
        dispatch(1, 88, 2, { asked: false }),
      ]);
      expect(keys(drawn.frontier)).toEqual(["cascade"]);
      expect(drawn.standAlone.map((point) => point.class)).toEqual(["unasked"]);
      expect(drawn.dispatch.map((point) => point.class)).toEqual(["unasked"]);
      expect(drawn.counts).toMatchObject({ evaluated: 1, feasible: 1 });
    });
  });

  it("rings a baseline that is better than the recommended plan", () => {
    const baselines = [{ key: "baseline 1", number: 1, figures: { quality: 86, latency: 3, cost: 0.001, gpus: 8 } }];
    expect(picture([plan("a", 85, 4)], { chosen: "a", baselines, better: "baseline 1" }).better).toEqual({ x: 86, y: 3 });
    expect(picture([plan("a", 85, 4)], { chosen: "a", baselines }).better).toBeNull();
  });

  it("thins a large cloud and keeps every frontier point", () => {
    const many = Array.from({ length: 5000 }, (_, index) => plan(`${index}`, 60 + (index % 30), 3 + (index % 50) / 100 + (index % 30)));
    const drawn = picture(many);
    expect(drawn.frontier).toHaveLength(30);
    expect(drawn.counts.drawn).toBeLessThan(1500);
    expect(drawn.counts.evaluated).toBe(5000);
    expect(drawn.points).toHaveLength(5000);
  });

  it("keeps floor, budget, running plan and points inside the axes", () => {
    const drawn = picture([plan("a", 85, 4)], {
      limits: { qualityFloor: 60, latencyBudgetSeconds: 14 },
      running: { quality: 93, latency: 12, cost: 0.001, gpus: 8 },
    });
    expect(drawn.xDomain[0]).toBeLessThanOrEqual(60);
    expect(drawn.xDomain[1]).toBeGreaterThanOrEqual(93);
    expect(drawn.yDomain[1]).toBeGreaterThanOrEqual(14);
  });
});

describe("stepCorners", () => {
  it("asks of a floor between two points the latency of the next one", () => {
    const frontier = [
      { x: 1, y: 10 },
      { x: 2, y: 20 },
    ];
    expect(stepCorners(frontier, { x: "quality", y: "latency" })).toEqual([
      { x: 1, y: 10 },
      { x: 1, y: 20 },
      { x: 2, y: 20 },
    ]);
  });

  it("gives for a budget between two points the quality of the one before", () => {
    const frontier = [
      { x: 1, y: 70 },
      { x: 2, y: 80 },
    ];
    expect(stepCorners(frontier, { x: "latency", y: "quality" })).toEqual([
      { x: 1, y: 70 },
      { x: 2, y: 70 },
      { x: 2, y: 80 },
    ]);
  });
});
