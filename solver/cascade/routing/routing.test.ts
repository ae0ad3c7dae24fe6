import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modelledScores } from "@/solver/workload/judgeModel";
import { testSample } from "../testing/testSample";
import { promptsReaching, proportionalThresholds, routePrompts } from "./routing";

const sample = testSample({ prompts: 400, skills: [0.5, 0.7, 0.85], seed: 3 });
const readBy = (auc: number) => ({ ...sample, routerScore: sample.label.map((label, seed) => modelledScores(label, { auc, seed })) });
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
    for (const stage of [0, 1, 2]) expect(promptsReaching(routed, stage).length / sample.prompts).toBe(routed.share[stage]);
  });
});

describe("a direct start", () => {
  const read = readBy(0.75);

  it("changes nothing where every score will do", () => {
    fc.assert(
      fc.property(ladders, threshold, threshold, (stages, h1, h2) => {
        const thresholds = [h1, h2].slice(0, stages.length - 1);
        expect(routePrompts(read, stages, thresholds, 0)).toEqual(routePrompts(sample, stages, thresholds));
      }),
      { numRuns: 30 },
    );
  });

  it("starts each prompt at the first stage whose router score will do, else at the last, and goes on from there as without", () => {
    fc.assert(
      fc.property(ladders, threshold, threshold, fc.integer({ min: 1, max: 100 }), (stages, h1, h2, startBelow) => {
        const thresholds = [h1, h2].slice(0, stages.length - 1);
        const { start, exit, accepted } = routePrompts(read, stages, thresholds, startBelow);
        for (let prompt = 0; prompt < read.prompts; prompt += 1) {
          const scores = stages.slice(0, -1).map((model) => read.routerScore[model]![prompt]!);
          const sure = scores.findIndex((score) => score >= startBelow);
          expect(start[prompt]).toBe(sure < 0 ? stages.length - 1 : sure);
          const rest = stages.slice(start[prompt]);
          const alone = thresholds.slice(start[prompt]).findIndex((own, stage) => read.judged[rest[stage]!]![prompt]! >= own);
          expect(exit[prompt]! - start[prompt]!).toBe(alone < 0 ? rest.length - 1 : alone);
          expect(accepted[prompt]).toBe(read.label[stages[exit[prompt]!]!]![prompt]);
        }
      }),
      { numRuns: 20 },
    );
  });

  it("counts every visit once: stages' requests are those between start and exit", () => {
    fc.assert(
      fc.property(threshold, threshold, threshold, (h1, h2, startBelow) => {
        const routed = routePrompts(read, [0, 1, 2], [h1, h2], startBelow);
        const visits = routed.exit.reduce((sum, leaves, prompt) => sum + leaves - routed.start[prompt]! + 1, 0);
        expect(routed.share.reduce((sum, share) => sum + share, 0) * read.prompts).toBeCloseTo(visits, 6);
        for (const stage of [0, 1, 2]) expect(promptsReaching(routed, stage).length / read.prompts).toBe(routed.share[stage]);
      }),
      { numRuns: 30 },
    );
  });

  it("with one score for each stage is that score for all where they are equal, and starts at the first where its score is 0", () => {
    fc.assert(
      fc.property(threshold, threshold, fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 100 }), (h1, h2, below, other) => {
        const each = routePrompts(read, [0, 1, 2], [h1, h2], [below, below]);
        expect(each).toEqual(routePrompts(read, [0, 1, 2], [h1, h2], below));
        expect(routePrompts(read, [0, 1, 2], [h1, h2], [0, other]).start.every((stage) => stage === 0)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it("never sends fewer requests to the first stages where a score to start at is lower", () => {
    const score = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(fc.tuple(score, score), fc.tuple(fc.nat(99), fc.nat(99)), ([first, second], [less, lessAfter]) => {
        const startsUpTo = (below: readonly number[], stage: number): number =>
          routePrompts(read, [0, 1, 2], [50, 50], below).start.filter((own) => own <= stage).length;
        const lower = [Math.max(0, first - less), Math.max(0, second - lessAfter)];
        for (const stage of [0, 1]) expect(startsUpTo(lower, stage)).toBeGreaterThanOrEqual(startsUpTo([first, second], stage));
      }),
      { numRuns: 30 },
    );
  });

  it("by a router that says the same of every prompt is a cascade without its first stages", () => {
    const constant = { ...sample, routerScore: [30, 60, 90].map((score) => new Float64Array(sample.prompts).fill(score)) };
    fc.assert(
      fc.property(threshold, threshold, fc.integer({ min: 1, max: 100 }), (h1, h2, below) => {
        const { exit, accepted } = routePrompts(constant, [0, 1, 2], [h1, h2], below);
        const first = below <= 30 ? 0 : below <= 60 ? 1 : 2;
        const rest = routePrompts(sample, [0, 1, 2].slice(first), [h1, h2].slice(first));
        expect(accepted).toEqual(rest.accepted);
        expect(exit.every((stage, prompt) => stage === (rest.exit[prompt] ?? 0) + first)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it("by an oracle whose every choice is accepted is right wherever any thresholds without it are", () => {
    const oracle = readBy(1);
    fc.assert(
      fc.property(ladders, threshold, threshold, (stages, h1, h2) => {
        const thresholds = [h1, h2].slice(0, stages.length - 1);
        const chosen = routePrompts(
          oracle,
          stages,
          thresholds.map(() => 0),
          100,
        ).accepted;
        const judged = routePrompts(sample, stages, thresholds).accepted;
        expect(chosen.every((label, prompt) => label >= judged[prompt]!)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("is refused on a sample that no router has read", () => {
    expect(() => routePrompts(sample, [0, 1], [50], 40)).toThrow("router scores");
  });
});

describe("proportionalThresholds", () => {
  it("sends about 1/i of the requests to stage i", () => {
    const { share } = routePrompts(sample, [0, 1, 2], proportionalThresholds(sample, [0, 1, 2]));
    expect(share[1]!).toBeCloseTo(1 / 2, 1);
    expect(share[2]!).toBeCloseTo(1 / 3, 1);
  });
});
