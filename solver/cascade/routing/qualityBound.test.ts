import { describe, expect, it } from "vitest";
import { standardError } from "@/solver/numeric/interval";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { testSample } from "../testing/testSample";
import { qualityLowerBound, selectionCritical } from "./qualityBound";
import { type PlanningSample, routePrompts } from "./routing";

const grid = Array.from({ length: 9 }, (_, index) => 10 * (index + 1));
const family = [
  ...[0, 1, 2].map((model) => ({ stages: [model], thresholds: [] as number[] })),
  ...grid.flatMap((h1) => grid.map((h2) => ({ stages: [0, 1, 2], thresholds: [h1, h2] }))),
];

function subsample(population: PlanningSample, prompts: number, seed: number): PlanningSample {
  const random = seededRandom(seed);
  const rows = Int32Array.from({ length: prompts }, () => random.int(population.prompts));
  const pick = (columns: readonly Float64Array[]) => columns.map((column) => Float64Array.from(rows, (row) => column[row]!));
  return { ...population, prompts, label: pick(population.label), judged: pick(population.judged) };
}

/** Costs of larger models: the planner's reason to prefer routings that were lucky. */
const cost = (stages: readonly number[], share: readonly number[]) =>
  share.reduce((sum, reached, position) => sum + reached * [1, 8, 40][stages[position]!]!, 0);

describe("qualityLowerBound", () => {
  const population = testSample({ prompts: 10_000, skills: [0.5, 0.7, 0.85], seed: 11 });
  const truth = family.map(({ stages, thresholds }) => routePrompts(population, stages, thresholds).quality);
  const best = Math.max(...truth);

  /** Share of fresh samples on which the cheapest routing that appears to meet a floor misses the true one. */
  function missRate(lowOf: (routed: ReturnType<typeof routePrompts>, critical: number) => number): number {
    let missed = 0;
    let chosen = 0;
    for (let trial = 0; trial < 40; trial += 1) {
      const sample = subsample(population, 400, 1000 + trial);
      const routed = family.map(({ stages, thresholds }) => {
        const one = routePrompts(sample, stages, thresholds);
        return { ...one, cost: cost(stages, one.share) };
      });
      const critical = selectionCritical(routed, { confidence: 0.9, seed: trial });
      for (const below of [2, 4, 6, 8]) {
        const floor = best - below;
        const meeting = routed.filter((one) => lowOf(one, critical) >= floor).sort((a, b) => a.cost - b.cost);
        const [cheapest] = meeting;
        if (cheapest === undefined) continue;
        chosen += 1;
        if ((truth[routed.indexOf(cheapest)] ?? 0) < floor) missed += 1;
      }
    }
    expect(chosen).toBeGreaterThan(100);
    return missed / chosen;
  }

  it("keeps its promise for the routing a planner picks, where the plain mean breaks it two times in five", () => {
    // 160 picks determine a rate of 10 % to about 3 points, as floors of one sample are correlated.
    expect(missRate(qualityLowerBound)).toBeLessThanOrEqual(0.13);
    expect(missRate((routed) => routed.quality)).toBeGreaterThan(0.3);
  });
});

describe("selectionCritical", () => {
  const labels = (share: number, random = seededRandom(5)) => Float64Array.from({ length: 1000 }, () => (random.next() < share ? 100 : 0));
  const pickable = (accepted: Float64Array, price: number) => ({ accepted, quality: mean(accepted), cost: price });

  it("is the ordinary quantile when there is one routing to pick", () => {
    const one = pickable(labels(0.6), 1);
    expect(selectionCritical([one], { confidence: 0.9, seed: 1 })).toBeCloseTo(1.28, 0);
    expect(selectionCritical([one, { ...one, cost: 2 }], { confidence: 0.9, seed: 1 })).toBeCloseTo(1.28, 0);
  });

  it("is no less than that of one routing where floors of the grid lie far from all there are to pick", () => {
    const apart = [pickable(labels(0.51), 1), pickable(labels(0.96), 8)];
    expect(selectionCritical(apart, { confidence: 0.9, seed: 1 })).toBeGreaterThanOrEqual(1.28);
  });

  it("grows with the routings there are to pick from and with the confidence", () => {
    const random = seededRandom(9);
    const independent = Array.from({ length: 20 }, (_, index) => pickable(labels(0.5, random), index));
    const one = selectionCritical(independent.slice(0, 1), { confidence: 0.9, seed: 1 });
    const many = selectionCritical(independent, { confidence: 0.9, seed: 1 });
    expect(many).toBeGreaterThan(one + 0.3);
    expect(selectionCritical(independent, { confidence: 0.99, seed: 1 })).toBeGreaterThan(many);
  });
});

describe("standardError", () => {
  it("does not vanish when every answer was right", () => {
    expect(standardError(new Float64Array(100).fill(100))).toBeGreaterThan(0.5);
  });

  it("is that of a share for right-or-wrong labels", () => {
    const labels = Float64Array.from({ length: 2000 }, (_, index) => (index % 5 === 0 ? 0 : 100));
    expect(standardError(labels)).toBeCloseTo(100 * Math.sqrt((0.2 * 0.8) / 2000), 1);
  });
});
