import { describe, expect, it } from "vitest";
import { type StartBelow, shortestStart, startScores } from "@/solver/plan/directStart";
import { modelledScores } from "@/solver/workload/judgeModel";
import { routePrompts } from "../routing/routing";
import { orderedSubsets, usefulThresholds } from "../routing/routingGrid";
import { testSample } from "../testing/testSample";
import { createSearch, type Evaluated, FOCUS_POINTS } from "./search";

const ladder = testSample({ prompts: 600, skills: [0.45, 0.65, 0.9], seed: 4 });
const sample = { ...ladder, routerScore: ladder.label.map((label, seed) => modelledScores(label, { auc: 0.9, seed })) };

/** A substitute for the latency of a routing: the cost of its requests; above a limit the load is not sustained. */
function evaluate(capacity: number) {
  return (stages: readonly number[], thresholds: readonly number[], startBelow: StartBelow = 0): Evaluated => {
    const { share, quality } = routePrompts(sample, stages, thresholds, startBelow);
    const load = share.reduce((sum, reached, stage) => sum + reached * [1, 4, 20][stages[stage]!]!, 0);
    const latencySeconds = load < capacity ? 1 + load : Number.POSITIVE_INFINITY;
    return {
      stages,
      thresholds,
      startBelow,
      quality,
      overloaded: latencySeconds === Number.POSITIVE_INFINITY,
      measured: [{ latencySeconds, quality }],
    };
  };
}

const searchWith = (capacity: number, limit = 1500, directStart = false) =>
  createSearch({ sample, cascades: orderedSubsets(3), evaluate: evaluate(capacity), limit, directStart, cancelled: () => false });

/** The least latency among points of at least a quality. */
const fastest = (points: readonly Evaluated[], floor: number): number =>
  Math.min(...points.filter((point) => point.quality >= floor).map((point) => point.measured[0]!.latencySeconds));

describe("createSearch", () => {
  it("comes within 5 % of the latency of trying every threshold, for every floor", () => {
    const search = searchWith(1000);
    search.run();
    const all: Evaluated[] = [];
    for (let h1 = 1; h1 <= 100; h1 += 1) for (let h2 = 1; h2 <= 100; h2 += 1) all.push(evaluate(1000)([0, 1, 2], [h1, h2]));
    for (const floor of [55, 60, 65, 70, 75, 80]) {
      expect(fastest(search.points, floor) / fastest(all, floor)).toBeLessThan(1.05);
    }
    expect(search.points.length).toBeLessThan(all.length / 8);
  });

  it("starts from proportional routing and looks at no routing twice", () => {
    const search = searchWith(1000, 400);
    search.run();
    const keys = search.points.map((point) => `${point.stages}|${point.thresholds}`);
    expect(new Set(keys).size).toBe(keys.length);
    const [proportional] = search.points.filter((point) => point.stages.length === 3);
    const { share } = routePrompts(sample, proportional!.stages, proportional!.thresholds);
    expect(share[1]!).toBeCloseTo(1 / 2, 1);
    expect(share[2]!).toBeCloseTo(1 / 3, 1);
  });

  it("spends little on cascades that do not keep up", () => {
    const roomy = searchWith(1000);
    const tight = searchWith(3);
    roomy.run();
    tight.run();
    const overloaded = (points: readonly Evaluated[]): number => points.filter((point) => point.overloaded).length;
    expect(overloaded(roomy.points)).toBe(0);
    expect(overloaded(tight.points)).toBeLessThan(tight.points.length / 3);
  });

  it("stays within its limit, and adds a routing by hand beyond it once", () => {
    const search = searchWith(1000, 50 + FOCUS_POINTS);
    search.run();
    expect(search.points.length).toBe(50);
    const index = search.add([0, 1, 2], [13, 77]);
    expect(search.points[index]).toMatchObject({ thresholds: [13, 77] });
    expect(search.add([0, 1, 2], [13, 77])).toBe(index);
  });

  it("refines around a floor or a budget that is asked", () => {
    const search = searchWith(1000, 60 + FOCUS_POINTS);
    search.run();
    const before = search.points.length;
    search.focus({ floor: 71.3, budgetSeconds: null });
    search.focus({ floor: null, budgetSeconds: 6 });
    expect(search.points.length).toBeGreaterThan(before);
    expect(search.points.length).toBeLessThanOrEqual(60 + FOCUS_POINTS);
  });

  it("finds the same again once it forgot what a floor brought", () => {
    const search = searchWith(9, 100 + FOCUS_POINTS);
    search.run();
    const found = search.points.length;
    const focused = () => {
      search.focus({ floor: 71.3, budgetSeconds: null });
      return search.points.map(({ stages, thresholds }) => ({ stages, thresholds }));
    };
    const first = focused();
    search.keepFirst(found);
    expect(search.points.length).toBe(found);
    search.focus({ floor: 75, budgetSeconds: null });
    search.keepFirst(found);
    expect(focused()).toEqual(first);
  });

  it("ends early when cancelled", () => {
    const search = createSearch({
      sample,
      cascades: orderedSubsets(3),
      evaluate: evaluate(9),
      limit: 1500,
      directStart: true,
      cancelled: () => true,
    });
    search.run();
    expect(search.points).toEqual([]);
  });

  it("looks at later starts after all else, and a good router lowers what every floor takes", () => {
    const without = searchWith(1000);
    const asked = searchWith(1000, 1500, true);
    without.run();
    asked.run();
    expect(asked.points.slice(0, without.points.length)).toEqual(without.points);
    const later = asked.points.slice(without.points.length);
    expect(later.length).toBeGreaterThan(100);
    expect(later.every(({ startBelow, stages }) => startBelow !== 0 && stages.length > 1)).toBe(true);
    for (const floor of [60, 65, 70, 75, 80]) expect(fastest(asked.points, floor)).toBeLessThan(fastest(without.points, floor));
  });

  it("refines later starts around a floor, and comes near the best of a fine grid", () => {
    const search = searchWith(1000, 1500, true);
    search.run();
    search.focus({ floor: 72, budgetSeconds: null });
    const all: Evaluated[] = [];
    for (let h1 = 1; h1 <= 100; h1 += 6)
      for (let h2 = 1; h2 <= 100; h2 += 6)
        for (let below = 1; below <= 100; below += 6) all.push(evaluate(1000)([0, 1, 2], [h1, h2], below));
    expect(fastest(search.points, 72) / fastest(all, 72)).toBeLessThan(1.03);
  });
});

describe("the search over one router score for each stage", () => {
  it("finds better plans than one score for all where heads are confident to different degrees, and its scores have the shortest form", () => {
    // The small model's head says half of what it means.
    const uneven = {
      ...sample,
      routerScore: sample.routerScore.map((scores, model) => (model === 0 ? scores.map((score) => score / 2) : scores)),
    };
    const evaluateUneven = (stages: readonly number[], thresholds: readonly number[], startBelow: StartBelow): Evaluated => {
      const { share, quality } = routePrompts(uneven, stages, thresholds, startBelow);
      const latencySeconds = 1 + share.reduce((sum, reached, stage) => sum + reached * [1, 4, 20][stages[stage]!]!, 0);
      return { stages, thresholds, startBelow, quality, overloaded: false, measured: [{ latencySeconds, quality }] };
    };
    const search = createSearch({
      sample: uneven,
      cascades: orderedSubsets(3),
      evaluate: evaluateUneven,
      limit: 1500,
      directStart: true,
      cancelled: () => false,
    });
    search.run();
    const perStage = search.points.filter(({ startBelow }) => typeof startBelow === "object");
    expect(perStage.length).toBeGreaterThan(20);
    for (const { startBelow, stages } of perStage) expect(shortestStart(startScores(startBelow, stages.length))).toEqual(startBelow);
    const oneScore = search.points.filter(({ startBelow }) => typeof startBelow === "number");
    const gained = [60, 65, 70, 75, 80].filter((floor) => fastest(search.points, floor) < fastest(oneScore, floor));
    expect(gained.length).toBeGreaterThanOrEqual(3);
  });

  it("evaluates routers alone, whose answers are accepted unjudged", () => {
    const search = searchWith(1000, 1500, true);
    search.run();
    const alone = search.points.filter(({ stages, thresholds }) => stages.length > 1 && thresholds.every((threshold) => threshold === 0));
    expect(alone.length).toBeGreaterThan(10);
    expect(alone.every(({ startBelow }) => startBelow !== 0)).toBe(true);
  });

  it("knows a routing by its scores, whatever their form", () => {
    const search = searchWith(1000, 1500, true);
    expect(search.add([0, 1, 2], [50, 50], [60, 60])).toBe(search.add([0, 1, 2], [50, 50], 60));
    expect(search.add([0, 1, 2], [50, 50], [0, 60])).toBe(search.add([0, 1, 2], [50, 50]));
    expect(search.add([0, 1, 2], [50, 50], [60, 40])).not.toBe(search.add([0, 1, 2], [50, 50], 60));
  });
});

describe("usefulThresholds", () => {
  it("leaves out thresholds that accept the same answers, and the one that accepts all", () => {
    expect(usefulThresholds(Float64Array.from([0, 0, 100, 100]))).toEqual([100]);
    expect(usefulThresholds(Float64Array.from([20, 35.5, 35.2, 90]))).toEqual([35, 90]);
    expect(usefulThresholds(Float64Array.from([50, 50]))).toEqual([]);
  });
});

describe("orderedSubsets", () => {
  it("lists every cascade of a ladder, smaller model first", () => {
    expect(orderedSubsets(3)).toEqual([[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]);
  });
});
