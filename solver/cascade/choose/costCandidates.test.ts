import { expect, it } from "vitest";
import type { Exploration } from "../explore/exploration";
import { costCandidates } from "./costCandidates";

const MAX_GPUS = 8;
const none = Number.POSITIVE_INFINITY;

/** Small alone, and small then large, which takes two GPUs at least and gains nothing from a fourth on. */
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
  stageP95: Float32Array.from([8, 4, 3, 2, 1.9, 1.8, 1.7, 1.6, ...[none, 4, 3, 3, 3, 3, 3, 3], ...[none, 9, 6, 6, 6, 6, 6, 6]]),
  tableOffset: Int32Array.from([0, MAX_GPUS]),
  endToEndWeight: Float32Array.from([1, 1, 1]),
  endToEndJudgeSeconds: Float32Array.from([0, 0]),
};
const knobs = { maxGpus: MAX_GPUS, latency: "end-to-end" } as const;

it("puts routings on every number of GPUs below the cluster's, down to the fewest that keep up and up to those that still help", () => {
  const found = costCandidates(exploration, knobs);
  const totals = (routing: number) => found.filter((each) => each.routing === routing).map((each) => each.gpusTotal);
  expect(totals(0)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(totals(1)).toEqual([4, 5, 6]);
  expect(found.every((each) => Number.isFinite(each.latencySeconds))).toBe(true);
});

it("has cheaper plans only, at a latency no lower", () => {
  const found = costCandidates(exploration, knobs).filter((each) => each.routing === 0);
  for (const [at, each] of found.entries()) {
    const next = found[at + 1];
    if (next === undefined) break;
    expect(each.costUsdPerRequest).toBeLessThan(next.costUsdPerRequest);
    expect(each.latencySeconds).toBeGreaterThanOrEqual(next.latencySeconds);
  }
});

it("takes what a turned GPU knob leaves of the same plans", () => {
  const all = costCandidates(exploration, knobs);
  expect(costCandidates(exploration, { ...knobs, maxGpus: 5 })).toEqual(all.filter((each) => each.gpusTotal < 5));
});

it("leaves out routings that keep up on no number of GPUs", () => {
  const busy = { ...exploration, stageP95: Float32Array.from(exploration.stageP95, (seconds, at) => (at < 2 * MAX_GPUS ? seconds : none)) };
  expect(new Set(costCandidates(busy, knobs).map((each) => each.routing))).toEqual(new Set([0]));
});

it("is empty where there is one GPU to give", () => {
  expect(costCandidates(exploration, { ...knobs, maxGpus: 1 })).toEqual([]);
});
