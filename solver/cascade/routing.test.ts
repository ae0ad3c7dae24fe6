import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { promptsReaching, proportionalThresholds, routePrompts } from "./routing";
import { testSample } from "./testSample";

const sample = testSample({ prompts: 400, skills: [0.5, 0.7, 0.85], seed: 3 });
const threshold = fc.integer({ min: 0, max: 100 });
const ladders = fc.constantFrom([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]);

describe("routePrompts", () => {
  it("accepts every first answer at threshold 0 and none of them over the highest score", () => {
    expect(routePrompts(sample, [0, 1], [0]).share).toEqual([1, 0]);
    const strict = { ...sample, judged: sample.judged.map((scores) => scores.map((score) => Math.min(score, 99))) };
    expect(routePrompts(strict, [0, 1], [100]).share).toEqual([1, 1]);
  });

  it("never sends fewer on when any threshold rises", () => {
    fc.assert(
      fc.property(threshold, threshold, threshold, (h1, h2, higher) => {
        const raised = Math.max(h1, higher);
        const low = routePrompts(sample, [0, 1, 2], [h1, h2]).share;
        const high = routePrompts(sample, [0, 1, 2], [raised, h2]).share;
        for (const stage of [0, 1, 2]) expect(high[stage]!).toBeGreaterThanOrEqual(low[stage]!);
      }),
    );
  });

  it("takes quality from labels and gates from judged scores", () => {
    fc.assert(
      fc.property(ladders, threshold, threshold, (stages, h1, h2) => {
        const routed = routePrompts(sample, stages, [h1, h2].slice(0, stages.length - 1));
        for (let prompt = 0; prompt < sample.prompts; prompt += 1) {
          const exit = routed.exit[prompt]!;
          expect(routed.accepted[prompt]).toBe(sample.label[stages[exit]!]![prompt]);
          if (exit < stages.length - 1) expect(sample.judged[stages[exit]!]![prompt]!).toBeGreaterThanOrEqual([h1, h2][exit]!);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("gives each stage the list of the requests that reach it", () => {
    const routed = routePrompts(sample, [0, 1, 2], [60, 60]);
    for (const stage of [0, 1, 2]) expect(promptsReaching(routed.exit, stage).length / sample.prompts).toBe(routed.share[stage]);
  });
});

describe("proportionalThresholds", () => {
  it("sends about 1/i of the requests to stage i", () => {
    const { share } = routePrompts(sample, [0, 1, 2], proportionalThresholds(sample, [0, 1, 2]));
    expect(share[1]!).toBeCloseTo(1 / 2, 1);
    expect(share[2]!).toBeCloseTo(1 / 3, 1);
  });
});
