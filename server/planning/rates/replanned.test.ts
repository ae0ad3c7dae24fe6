import { describe, expect, it } from "vitest";
import { drawTraffic } from "@/solver/baselines/measure";
import { instanceExplorer, randomInstance } from "@/solver/baselines/randomInstance";
import type { System } from "@/solver/baselines/system";
import type { GatedSystem } from "./gatedContext";
import { bestOf } from "./ratePlanners";
import { highestKept, highestReplanned, measuredAt, type RateMeasuring } from "./replanned";

const instance = randomInstance(3);
const { shapes, sample } = instanceExplorer(instance).input;
const { outcomes, arrivalSeconds } = instance.workload;
const { models } = sample;
const rows = Int32Array.from(outcomes.promptIds.keys());

/** The first model on so many replicas of four GPUs. */
function planned(count: number, plannedSeconds = 1): GatedSystem {
  const system: System = {
    name: "alone",
    stages: [{ model: models[0] ?? "", replicas: [{ shape: { tp: 4, pp: 1 }, count }] }],
    routing: { kind: "cascade", thresholds: [] },
  };
  return {
    kind: "none",
    system,
    outcomes,
    judgeSeconds: 0,
    usdPerJudgement: 0,
    gateGpus: 0,
    gateRate: Number.POSITIVE_INFINITY,
    plannedSeconds,
    isNearSaturation: false,
  };
}

const measuring: RateMeasuring = {
  traffic: drawTraffic({ outcomes, arrivalSeconds, judgeSeconds: 0 }, { rows, requests: 1500, seed: 1 }),
  measuring: rows,
  choice: { models, shapes },
  deadlineSeconds: 10,
  usdPerGpuHour: 3,
};

const always = (system: GatedSystem) => ({ kind: "one plan", plan: () => system });

describe("the highest rate of a system that is planned anew", () => {
  it("is that of its plan where every rate has the same, from whatever rate it is looked for", () => {
    const kept = highestKept(planned(1), measuring, 5);
    for (const from of [10, 40, 400]) {
      const found = highestReplanned(always(planned(1)), measuring, from)?.requestsPerSecond ?? 0;
      expect(found / kept).toBeGreaterThan(0.93);
      expect(found / kept).toBeLessThan(1.07);
    }
  });

  it("is higher with a plan that grows with the rate", () => {
    const grows = { kind: "grows", plan: (rate: number) => planned(rate > 5 ? 2 : 1) };
    const [one, other] = [always(planned(1)), grows].map((each) => highestReplanned(each, measuring, 4)?.requestsPerSecond ?? 0);
    expect(other).toBeGreaterThan(1.5 * (one ?? 0));
  });

  it("is none where no rate has a plan", () => {
    expect(highestReplanned({ kind: "none", plan: () => null }, measuring, 4)).toBeNull();
  });

  it("costs a system the GPUs that its plan and its gate use", () => {
    const beside = { ...planned(1), gateGpus: 2 };
    for (const [system, gpus] of [
      [planned(1), 4],
      [planned(2), 8],
      [beside, 6],
    ] as const) {
      const found = measuredAt(system, measuring, 4);
      expect(found.gpus).toBe(gpus);
      expect(found.costUsdPerRequest * 4).toBeCloseTo((gpus * 3) / 3600, 9);
    }
  });

  it("is below the rate that saturates the engines of its gate", () => {
    const free = highestKept(planned(1), measuring, 5);
    const gated = { ...planned(1), gateGpus: 1, gateRate: free / 2 };
    for (const found of [highestKept(gated, measuring, 5), highestReplanned(always(gated), measuring, 5)?.requestsPerSecond ?? 0]) {
      expect(found).toBeLessThan(free / 2);
      expect(found).toBeGreaterThan(free / 2.3);
    }
  });
});

describe("a planner among gates", () => {
  it("takes the plan with the least planned p95, and where a rate has none the least loaded of those for nine tenths of it, and so on", () => {
    const [fast, roomy] = [planned(1, 1), planned(2, 2)];
    const planner = bestOf("Weir", {
      plansAt: (rate) => (rate > 10 ? [null] : [roomy, null, fast]),
      loadOf: ({ system }, rate) => rate / (system === roomy.system ? 40 : 20),
    });
    expect(planner.plan(8)).toEqual(fast);
    expect(planner.plan(15)).toEqual(roomy);
    expect(planner.plan(40)).toBeNull();
    const near = { ...fast, isNearSaturation: true };
    const choosing = (plans: readonly GatedSystem[]) => bestOf("Weir", { plansAt: () => plans, loadOf: () => 0 }).plan(1);
    expect(choosing([near, roomy])).toEqual(roomy);
    expect(choosing([near])).toEqual(near);
  });
});
