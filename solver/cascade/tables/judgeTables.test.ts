import { describe, expect, it } from "vitest";
import { gammaArrivals } from "@/solver/engine/gammaArrivals";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { judgementsPerRequest, routePrompts } from "../routing/routing";
import { testSample } from "../testing/testSample";
import { createJudgeTables } from "./judgeTables";

const sample = testSample({ prompts: 300, skills: [0.3, 0.6, 0.9], seed: 4 });
const shapes = feasibleReplicas(modelCard("llama-3.1-8b")!, gpuCard("h100-sxm")!, { gpusPerNode: 8, maxGpus: 8 });
const arrivalSeconds = gammaArrivals({ requests: 2000, requestsPerSecond: 1, shape: 0.8, seed: 1 });
const tablesWith = (outputTokens: number) =>
  createJudgeTables(
    { sample, shapes: [], arrivalSeconds, requestsPerSecond: 40, maxGpus: 8, quantile: 0.95, seed: 1 },
    { model: "llama-3.1-8b", shapes, rubricTokens: 200, outputTokens },
  );
const cascade = (stages: readonly number[], thresholds: readonly number[]) => ({
  stages,
  thresholds,
  routed: routePrompts(sample, stages, thresholds),
});

describe("the tables of a judge", () => {
  it("have one judgement for each answer that may be sent on, of the model that gave it", () => {
    const judging = tablesWith(8);
    for (const of of [cascade([0, 1, 2], [60, 50]), cascade([1, 2], [40]), cascade([0, 2], [90])]) {
      const { prompts, share } = judging.mix(of);
      const perRequest = judgementsPerRequest(of.routed.share, of.thresholds);
      expect(prompts).toHaveLength(Math.round(perRequest * sample.prompts));
      // The answers of two models of the ladder can be judged; the share is of the judgements for both.
      expect(share).toBeCloseTo(perRequest / 2, 12);
      const judged = new Set([...prompts].map((call) => Math.floor(call / sample.prompts)));
      expect(judged).toEqual(new Set(of.stages.slice(0, -1)));
    }
    expect(judgementsPerRequest([1], [])).toBe(0);
    const half = cascade([0, 1, 2], [0, 50]);
    expect(
      judging.mix({ ...half, routed: { ...half.routed, start: half.routed.start.fill(1), exit: half.routed.exit.fill(1) } }).prompts,
    ).toHaveLength(sample.prompts);
    expect(judging.mix(cascade([0, 1], [0])).prompts).toHaveLength(0);
  });

  it("take longer for prompts that are judged more often, and for longer judgements", () => {
    const of = cascade([0, 1, 2], [60, 50]);
    const relative = tablesWith(8).relativeLatency(of);
    const meanOf = (stage: number): number => {
      const own = [...relative].filter((_, prompt) => of.routed.exit[prompt] === stage);
      return own.reduce((sum, value) => sum + value, 0) / own.length;
    };
    expect(meanOf(1)).toBeGreaterThan(1.5 * meanOf(0));
    const [short, long] = [4, 200].map((outputTokens) => {
      const judging = tablesWith(outputTokens);
      return judging.tables.near(0, judging.mix(of)).tables.capacity.levels[0]!;
    });
    expect(long).toBeGreaterThan(5 * short!);
  });
});
