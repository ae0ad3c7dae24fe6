import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyPlacement } from "../testing/placementContract";
import { checkInstance, linearCost } from "../testing/testPlacements";
import { dataConcurrent, listScheduling, roundRobin } from "./baselineSchedules";
import type { PlacedExpert, PlacementProblem } from "./placement";
import { replicaCap } from "./replicaCap";
import { timeSchedule } from "./timeSchedule";

const problems = anyPlacement({ experts: 7, workers: 5, prompts: 60, bent: true });

const placedPrompts = (problem: PlacementProblem, workers: ReturnType<typeof dataConcurrent>["workers"]): number[] =>
  problem.experts.map((_, expert) =>
    workers
      .flat()
      .filter((session) => session.expert === expert)
      .reduce((sum, { prompts }) => sum + prompts, 0),
  );

describe("schedules over time", () => {
  const experts: PlacedExpert[] = [
    { name: "a", prompts: 10, loadSeconds: 5, cost: linearCost(1) },
    { name: "b", prompts: 4, loadSeconds: 2, cost: linearCost(3) },
  ];

  it("run a worker's sessions one after another, each after its load", () => {
    const timed = timeSchedule(experts, {
      workers: [
        [
          { expert: 0, prompts: 10 },
          { expert: 1, prompts: 1 },
        ],
        [{ expert: 1, prompts: 3 }],
      ],
      barrier: false,
    });
    expect(timed.workers[0]).toEqual([
      { expert: 0, prompts: 10, fromSeconds: 0, readySeconds: 5, untilSeconds: 15 },
      { expert: 1, prompts: 1, fromSeconds: 15, readySeconds: 17, untilSeconds: 20 },
    ]);
    expect(timed).toMatchObject({ makespanSeconds: 20, loads: 3 });
    expect(timed.idle).toBeCloseTo(9 / 40, 12);
  });

  it("wait for one another under a barrier", () => {
    const timed = timeSchedule(experts, {
      workers: [
        [
          { expert: 0, prompts: 8 },
          { expert: 1, prompts: 2 },
        ],
        [
          { expert: 0, prompts: 2 },
          { expert: 1, prompts: 2 },
        ],
      ],
      barrier: true,
    });
    expect(timed.workers.map((line) => line.map(({ fromSeconds }) => fromSeconds))).toEqual([
      [0, 13],
      [0, 13],
    ]);
    expect(timed.makespanSeconds).toBe(21);
  });

  it("of nobody take no time", () => {
    expect(timeSchedule([], { workers: [[], []], barrier: false })).toEqual({ workers: [[], []], makespanSeconds: 0, idle: 0, loads: 0 });
  });
});

describe("caps of replicas", () => {
  const expert = (prompts: number, loadSeconds: number): PlacedExpert => ({ name: "a", prompts, loadSeconds, cost: linearCost(1) });

  it("are as many loads as the expert's time amortises, one at least and the workers at most", () => {
    expect([replicaCap(expert(99, 50), 4, "amortised"), replicaCap(expert(100, 50), 4, "amortised")]).toEqual([1, 2]);
    expect([replicaCap(expert(10, 50), 4, "amortised"), replicaCap(expert(1000, 50), 4, "amortised")]).toEqual([1, 4]);
    expect(replicaCap(expert(1000, 50), 4, "single")).toBe(1);
    expect(replicaCap(expert(0, 0), 4, "amortised")).toBe(4);
  });
});

describe("baselines", () => {
  it("are the source's worker times and totals on the check instance", () => {
    const problem = checkInstance(2);
    const seconds = [roundRobin(problem), listScheduling(problem), dataConcurrent(problem)].map((schedule) =>
      schedule === null ? null : timeSchedule(problem.experts, schedule).makespanSeconds,
    );
    // Round-robin: QwenR1 and Qwen, 42 + 2470.44 + 38 + 123.324. Data-concurrent: of each expert a load and the largest quarter.
    expect(seconds[0]).toBeCloseTo(2673.764, 6);
    expect(seconds[1]).toBeCloseTo(2545.8, 6);
    expect(seconds[2]).toBeCloseTo(247 + 268 * 2.34 + 357 * 1.73 + 408 * 0.17 + 137 * 0.12 + 167 * 0.1 + 239 * 0.129, 6);
  });

  it("place every prompt once, whole experts on one worker within K, shards on all", () => {
    fc.assert(
      fc.property(problems, (problem) => {
        const asked = problem.experts.map(({ prompts }) => prompts);
        for (const whole of [roundRobin(problem), listScheduling(problem)]) {
          if (whole === null) throw new Error("there is room for all");
          expect(placedPrompts(problem, whole.workers)).toEqual(asked);
          expect(whole.workers.flat()).toHaveLength(asked.filter((prompts) => prompts > 0).length);
          expect(Math.max(...whole.workers.map(({ length }) => length))).toBeLessThanOrEqual(problem.maxModelsPerWorker);
        }
        const shards = dataConcurrent(problem);
        expect(placedPrompts(problem, shards.workers)).toEqual(asked);
        const sizes = shards.workers.map((sessions) => sessions.map(({ prompts }) => prompts));
        for (const [index, prompts] of (sizes[0] ?? []).entries())
          for (const other of sizes) expect(prompts - (other[index] ?? 0)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("with whole experts do not exist where K has no room for all", () => {
    const problem = { ...checkInstance(1), workers: 4 };
    expect([roundRobin(problem), listScheduling(problem)]).toEqual([null, null]);
  });
});
