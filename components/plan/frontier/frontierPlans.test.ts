import { describe, expect, it } from "vitest";
import { choose } from "@/solver/cascade/choose/choose";
import type { Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import { frontierPlans } from "./frontierPlans";

const MAX_GPUS = 8;
const small = [8, 4, 3, 2, 1.9, 1.8, 1.7, 1.6];
const large = [Number.POSITIVE_INFINITY, 9, 8, 7, 6, 5, 4.5, 4];
const exploration: Exploration = {
  models: ["small", "large"],
  requestsPerSecond: 10,
  maxGpus: MAX_GPUS,
  leastGpus: [1, 2],
  usdPerGpuHour: 3.6,
  judge: { secondsPerCall: 0, usdPerCall: 0 },
  qualityConfidence: 0.9,
  routings: [
    { stages: [0], thresholds: [], startBelow: 0, quality: 70, qualityLow: 68, share: [1] },
    { stages: [0, 1], thresholds: [60], startBelow: 0, quality: 82, qualityLow: 80, share: [1, 0.4] },
  ],
  stageP95: Float32Array.from([...small, ...small, ...large]),
  tableOffset: Int32Array.from([0, MAX_GPUS]),
  endToEndWeight: Float32Array.from([1, 1, 1]),
  endToEndJudgeSeconds: Float32Array.from([0, 0]),
};
const knobs: Knobs = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  qualityFloor: 75,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: MAX_GPUS,
};
const plansOf = (asked: Knobs, axes: Parameters<typeof frontierPlans>[0]["axes"], pins: readonly string[] = []) =>
  frontierPlans({ exploration, candidates: choose(exploration, asked).candidates, knobs: asked, axes, pins, policy: "any" });

describe("frontierPlans", () => {
  it("has every routing once over quality and latency, at the bound the floor is held against", () => {
    const plans = plansOf(knobs, { x: "quality", y: "latency" });
    expect(plans.map((plan) => [plan.key, plan.figures.quality, plan.standAloneModel])).toEqual([
      ["small", 68, 0],
      ["small@60~large", 80, null],
    ]);
    const byPoint = plansOf({ ...knobs, qualityConfidence: null }, { x: "quality", y: "latency" });
    expect(byPoint.map((plan) => plan.figures.quality)).toEqual([70, 82]);
  });

  it("has it on other numbers of GPUs too where cost or GPUs are an axis, each under a key of its own", () => {
    for (const kind of ["latency-under-quality", "cost-under-both"] as const) {
      const plans = plansOf({ ...knobs, kind, latencyBudgetSeconds: 9 }, { x: "cost", y: "latency" });
      expect(new Set(plans.map((plan) => plan.key)).size).toBe(plans.length);
      const counts = plans.filter((plan) => plan.key.startsWith("small@60~large")).map((plan) => plan.figures.gpus);
      expect(Math.max(...counts)).toBe(8);
      expect(Math.min(...counts)).toBe(3);
      for (const { key, figures } of plans) if (key.includes("*")) expect(key.endsWith(`*${figures.gpus}`)).toBe(true);
    }
  });

  it("marks what the policy does not ask for", () => {
    const askedFor = (policy: Parameters<typeof frontierPlans>[0]["policy"]) =>
      frontierPlans({
        exploration,
        candidates: choose(exploration, knobs).candidates,
        knobs,
        axes: { x: "quality", y: "latency" },
        pins: [],
        policy,
      })
        .filter(({ asked }) => asked)
        .map(({ key }) => key);
    expect(askedFor("any")).toEqual(["small", "small@60~large"]);
    expect(askedFor("one-model")).toEqual(["small"]);
    expect(askedFor("slack")).toEqual([]);
  });

  it("has pinned plans on every pair of axes, each once", () => {
    const pins = ["small@60~large*5", "small", "gone", "small@61~large*5"];
    for (const axes of [
      { x: "quality", y: "latency" },
      { x: "gpus", y: "latency" },
    ] as const) {
      const pinned = plansOf(knobs, axes, pins).filter((plan) => pins.includes(plan.key));
      expect(pinned.map((plan) => [plan.key, plan.figures.gpus]).sort()).toEqual([
        ["small", 8],
        ["small@60~large*5", 5],
      ]);
    }
  });
});
