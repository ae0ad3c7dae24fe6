import { describe, expect, it } from "vitest";
import { seededRandom } from "../numeric/random";
import { qualityLowerBound, simultaneousCritical, standardError } from "./qualityBound";
import { type PlanningSample, routePrompts } from "./routing";
import { testSample } from "./testSample";

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

/** What larger models cost: the planner's reason to prefer routings that were lucky. */
const cost = (stages: readonly number[], share: readonly number[]) =>
  share.reduce((sum, reached, position) => sum + reached * [1, 8, 40][stages[position]!]!, 0);

describe("qualityLowerBound", () => {
  const population = testSample({ prompts: 10_000, skills: [0.5, 0.7, 0.85], seed: 11 });
  const truth = family.map(({ stages, thresholds }) => routePrompts(population, stages, thresholds).quality);
  const best = Math.max(...truth);

  /** Share of fresh samples on which the cheapest routing that seems to meet a floor misses it in truth. */
  function missRate(lowOf: (routed: ReturnType<typeof routePrompts>, critical: number) => number): number {
    let missed = 0;
    let chosen = 0;
    for (let trial = 0; trial < 50; trial += 1) {
      const sample = subsample(population, 400, 1000 + trial);
      const routed = family.map(({ stages, thresholds }) => routePrompts(sample, stages, thresholds));
      const critical = simultaneousCritical(
        routed.map((one) => one.accepted),
        { confidence: 0.9, seed: trial },
      );
      for (const below of [3, 5, 8]) {
        const floor = best - below;
        let cheapest = -1;
        let least = Number.POSITIVE_INFINITY;
        for (const [index, one] of routed.entries()) {
          const price = cost(family[index]!.stages, one.share);
          if (lowOf(one, critical) >= floor && price < least) {
            least = price;
            cheapest = index;
          }
        }
        if (cheapest < 0) continue;
        chosen += 1;
        if (truth[cheapest]! < floor) missed += 1;
      }
    }
    expect(chosen).toBeGreaterThan(50);
    return missed / chosen;
  }

  it("keeps its promise for the routing a planner picks, where the plain mean breaks it two times in five", () => {
    const bound = missRate(qualityLowerBound);
    const plain = missRate((routed) => routed.quality);
    expect(bound).toBeLessThanOrEqual(0.1);
    expect(plain).toBeGreaterThan(0.3);
  });
});

describe("simultaneousCritical", () => {
  it("is the ordinary quantile for one routing, repeated or not", () => {
    const accepted = Float64Array.from({ length: 5000 }, (_, index) => (index % 3 === 0 ? 0 : 100));
    const one = simultaneousCritical([accepted], { confidence: 0.9, seed: 1 });
    expect(one).toBeCloseTo(1.2816, 0);
    expect(simultaneousCritical([accepted, accepted, accepted], { confidence: 0.9, seed: 1 })).toBeCloseTo(1.2816, 0);
  });

  it("grows with the routings there are to choose from and with the confidence", () => {
    const random = seededRandom(5);
    const independent = Array.from({ length: 20 }, () => Float64Array.from({ length: 1000 }, () => (random.next() < 0.5 ? 0 : 100)));
    const few = simultaneousCritical(independent.slice(0, 2), { confidence: 0.9, seed: 1 });
    const many = simultaneousCritical(independent, { confidence: 0.9, seed: 1 });
    const sure = simultaneousCritical(independent, { confidence: 0.99, seed: 1 });
    expect(few).toBeGreaterThan(1.4);
    expect(many).toBeGreaterThan(few);
    expect(many).toBeLessThan(2.8);
    expect(sure).toBeGreaterThan(many);
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
