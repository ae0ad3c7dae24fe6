import { expect, it } from "vitest";
import { candidatesFor } from "../choose/choose";
import type { Finalist } from "../deploy/finalist";
import type { Exploration, Knobs } from "../explore/exploration";
import { verifiedBest } from "./verifiedBest";

/** One model alone whose tables say 1, 0.9 and 0.8 s on one, two and three GPUs. */
const exploration: Exploration = {
  models: ["only"],
  requestsPerSecond: 1,
  maxGpus: 3,
  leastGpus: [1],
  usdPerGpuHour: 3.6,
  judge: { secondsPerCall: 0, usdPerCall: 0 },
  qualityConfidence: 0.9,
  routings: [{ stages: [0], thresholds: [], startBelow: 0, quality: 70, qualityLow: 68, share: [1] }],
  stageP95: Float32Array.from([1, 0.9, 0.8]),
  tableOffset: Int32Array.from([0]),
  endToEndWeight: Float32Array.from([1]),
  endToEndJudgeSeconds: Float32Array.from([0]),
};

const knobs: Knobs = {
  kind: "cost-under-both",
  latency: "end-to-end",
  qualityFloor: 60,
  qualityConfidence: null,
  latencyBudgetSeconds: 0.95,
  maxGpus: 3,
};

it("keeps the plan that kept the budget simulated whole, whatever simulations on other GPU counts say of its tables", () => {
  // Far below its tables on two GPUs, so that one is tried; far above them there, so that by the tables no count meets the budget.
  const simulated = [2, 0.6, 1.6];
  const tried: number[] = [];
  const { finalist } = verifiedBest({
    exploration,
    pool: candidatesFor(exploration, knobs),
    knobs,
    resized: true,
    deploy({ routing, gpus }) {
      tried.push(gpus);
      const seconds = simulated[gpus - 1] ?? Number.POSITIVE_INFINITY;
      return { routing, verifiedSeconds: seconds, heldSeconds: seconds, requests: gpus } as Finalist;
    },
    cost: ({ requests }) => requests,
  });
  expect(tried.slice(0, 2)).toEqual([2, 1]);
  expect(finalist?.heldSeconds).toBe(0.6);
});
