import { expect, test } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import { generatedWorkload } from "@/solver/workload/generated";
import { HALFWAY, type RaceCase } from "./raceCase";
import type { RaceLadder } from "./raceLadders";
import { pointsAtEqualCost, scoredCurves } from "./scoredRun";

const ladder: RaceLadder = {
  ...{ name: "generated", families: [], task: "crux", standsFor: "none" },
  models: ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"],
};
const workload = generatedWorkload({ prompts: 600, ladder: [...ladder.models], seed: 1 });
const answers = { workload, texts: workload.outcomes.promptIds.map(() => null) };
const of = (workflow: string, batches: number): RaceCase => ({ part: "all", ladder, workflow, gpus: 8, ...HALFWAY, batches });

test("with scores that tell right answers from wrong, programs are better at equal cost in the mean over seeds", {
  timeout: 240_000,
}, () => {
  const gains = [1, 2, 3].map((seed) => pointsAtEqualCost(scoredCurves(of("self-refine", 10), answers, { seed, confidence: 0.9 })));
  expect(mean(gains)).toBeGreaterThan(0);
});

test("with one score for all answers nothing changes", { timeout: 120_000 }, () => {
  for (const workflow of ["self-refine", "voting"]) {
    const { scored, without } = scoredCurves(of(workflow, 2), answers, { seed: 1, confidence: null });
    expect(scored).toEqual(without);
    expect(new Set(without.map(({ cost }) => cost)).size).toBeGreaterThan(2);
  }
});

test("the gain is read between the points without scores, where programs are about as good as on the largest models", () => {
  const without = [
    { cost: 1, quality: 40 },
    { cost: 2, quality: 60 },
    { cost: 4, quality: 62 },
  ];
  const scored = [
    { cost: 0.5, quality: 60 },
    { cost: 1.5, quality: 56 },
    { cost: 3, quality: 63 },
    { cost: 1.5, quality: 40 },
  ];
  expect(pointsAtEqualCost({ without, scored })).toBe((6 + 2) / 2);
  // A line from the first to the last passes below the second here, and above one that is lower.
  const lower = without.map((point, at) => (at === 1 ? { ...point, quality: 42 } : point));
  expect(pointsAtEqualCost({ without: lower, scored }, "curve")).toBeCloseTo((15 + 11) / 2);
  expect(pointsAtEqualCost({ without: lower, scored }, "hull")).toBeCloseTo((56 - (40 + 22 / 6) + 63 - (40 + 44 / 3)) / 2);
});
