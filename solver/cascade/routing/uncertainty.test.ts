import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { testSample } from "../testing/testSample";
import { type PlanningSample, routePrompts } from "./routing";
import { type Interval, routedIntervals } from "./uncertainty";

const STAGES = [0, 1, 2];
const at = { confidence: 0.9, seed: 3 };

/** A sample of prompts drawn from a large one. */
function drawn(from: PlanningSample, prompts: number, seed: number): PlanningSample {
  const random = seededRandom(seed);
  const rows = Int32Array.from({ length: prompts }, () => random.int(from.prompts));
  const take = (column: Float64Array): Float64Array => Float64Array.from(rows, (row) => column[row]!);
  return { ...from, prompts, label: from.label.map(take), judged: from.judged.map(take) };
}

const covers = ({ low, high }: Interval, value: number): boolean => low <= value && value <= high;

describe("routedIntervals", () => {
  it("covers the population's quality and processing ratios in about nine of ten samples", () => {
    const population = testSample({ prompts: 30_000, skills: [0.45, 0.65, 0.9], seed: 1 });
    const truth = routePrompts(population, STAGES, [55, 45]);
    const samples = 200;
    let quality = 0;
    let share = 0;
    for (let seed = 1; seed <= samples; seed += 1) {
      const found = routedIntervals(routePrompts(drawn(population, 150, seed), STAGES, [55, 45]), { ...at, seed });
      if (covers(found.quality, truth.quality)) quality += 1;
      if (covers(found.share[2]!, truth.share[2]!)) share += 1;
    }
    // Of 200 samples nine in ten, give or take three standard deviations.
    for (const covered of [quality, share]) expect(Math.abs(covered / samples - 0.9)).toBeLessThan(0.065);
  });

  it("holds the point values, repeats under its seed, and leaves no doubt about the first stage", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 2, max: 60 }), fc.tuple(fc.nat(100), fc.nat(100)), (seed, prompts, thresholds) => {
        const routed = routePrompts(testSample({ prompts, skills: [0.4, 0.6, 0.9], seed }), STAGES, thresholds);
        const found = routedIntervals(routed, at);
        expect(found.share[0]).toEqual({ low: 1, high: 1 });
        expect(covers(found.quality, routed.quality)).toBe(true);
        for (const [stage, own] of found.share.entries()) expect(covers(own, routed.share[stage]!)).toBe(true);
        expect(routedIntervals(routed, at)).toEqual(found);
      }),
      { numRuns: 20 },
    );
  });

  it("narrows with the square root of the sample", () => {
    const width = (prompts: number): number => {
      const { quality } = routedIntervals(routePrompts(testSample({ prompts, skills: [0.5], seed: 6 }), [0], []), at);
      return quality.high - quality.low;
    };
    expect(width(200) / width(3200)).toBeGreaterThan(3.3);
    expect(width(200) / width(3200)).toBeLessThan(4.8);
  });
});
