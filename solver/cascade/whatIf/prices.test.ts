import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { noConstraints } from "@/solver/plan/constraints";
import type { Constrained } from "../deploy/constrainedDeployment";
import type { Knobs } from "../explore/exploration";
import { createExplorer } from "../explore/explore";
import { lateBursts, testSample } from "../testing/testSample";
import { pricesOfGpus, pricesOfQuality, relativeOn } from "./prices";

const GPUS = 8;
const sample = { ...testSample({ prompts: 300, skills: [0.5, 0.85], seed: 8 }), models: ["qwen2.5-7b", "qwen2.5-32b"] };
const explorer = createExplorer({
  sample,
  shapes: sample.models.map((id) => feasibleReplicas(modelCard(id)!, gpuCard("h100-sxm")!, { gpusPerNode: 8, maxGpus: GPUS })),
  arrivalSeconds: lateBursts(2000, 3),
  requestsPerSecond: 60,
  maxGpus: GPUS,
  usdPerGpuHour: 3,
  judge: { secondsPerCall: 0.25, usdPerCall: 0 },
  quantile: 0.95,
  qualityConfidence: 0.9,
  seed: 2,
  cancelled: () => false,
});
explorer.search();

const threshold = fc.integer({ min: 20, max: 80 });
const latency = "largest-stage";

describe("prices of GPUs", () => {
  it("never make the slowest stage slower, and a node more brings at least what one GPU does", () => {
    fc.assert(
      fc.property(threshold, fc.integer({ min: 4, max: GPUS }), (own, gpus) => {
        const routing = explorer.add([0, 1], [own]);
        const [one, node] = pricesOfGpus(explorer, routing, { gpus, latency, types: [{ gpu: "h100-sxm", nodeGpus: 8 }] });
        expect([one!.more, node!.more]).toEqual([1, 8]);
        if (one!.relativeLatency === null || node!.relativeLatency === null) return;
        expect(one!.relativeLatency).toBeLessThanOrEqual(1 + 1e-9);
        expect(node!.relativeLatency).toBeLessThanOrEqual(one!.relativeLatency + 1e-9);
      }),
      { numRuns: 12 },
    );
  });

  it("are told once where a node has one GPU, and not at all where nothing keeps up", () => {
    const routing = explorer.add([0, 1], [50]);
    const types = [{ gpu: "h100-sxm", nodeGpus: 1 }];
    expect(pricesOfGpus(explorer, routing, { gpus: GPUS, latency, types }).map(({ more }) => more)).toEqual([1]);
    expect(pricesOfGpus(explorer, routing, { gpus: 1, latency, types })).toEqual([{ gpu: "h100-sxm", more: 1, relativeLatency: null }]);
  });

  it("turn round: what fewer GPUs cost is what as many more bring back", () => {
    const routing = explorer.add([0, 1], [50]);
    const less = relativeOn(explorer, routing, { gpus: GPUS, other: 6, latency })!;
    const more = relativeOn(explorer, routing, { gpus: 6, other: GPUS, latency })!;
    expect(less).toBeGreaterThanOrEqual(1);
    expect(less * more).toBeCloseTo(1, 9);
  });
});

describe("prices of quality", async () => {
  const engine = await loadGlpkEngine();
  const knobs: Knobs = {
    kind: "latency-under-quality",
    latency,
    qualityFloor: 65,
    qualityConfidence: 0.9,
    latencyBudgetSeconds: null,
    maxGpus: GPUS,
  };
  const input: Constrained = {
    explorer,
    cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "n1", gpus: GPUS }], usdPerGpuHour: 1 },
    objective: { ...knobs, percentile: 95 },
    constraints: noConstraints,
    running: [],
    engine,
    elapsedSeconds: () => 0,
  };

  it("rise with the floor, from at most 1 below it to at least 1 above it, and leave the search as it was", () => {
    explorer.search();
    const before = explorer.exploration().routings;
    const prices = pricesOfQuality(input, knobs);
    expect(prices.map(({ points }) => points)).toEqual([-2, -1, 1, 2]);
    const relative = prices.map(({ relativeLatency }) => relativeLatency ?? Number.POSITIVE_INFINITY);
    expect(Math.max(...relative.slice(0, 2))).toBeLessThanOrEqual(1.01);
    expect(Math.min(...relative.slice(2))).toBeGreaterThanOrEqual(0.99);
    expect(relative[3]).toBeGreaterThan(relative[0]!);
    expect(explorer.exploration().routings).toEqual(before);
  });

  it("are null above what can be reached, and none where no floor is asked or no quality beyond the scale", () => {
    expect(pricesOfQuality(input, { ...knobs, qualityFloor: null })).toEqual([]);
    expect(pricesOfQuality(input, { ...knobs, qualityFloor: 99 })).toEqual([]);
    const highest = Math.floor(Math.max(...explorer.exploration().routings.map(({ qualityLow }) => qualityLow)));
    expect(pricesOfQuality(input, { ...knobs, qualityFloor: highest }).at(-1)).toEqual({ points: 2, relativeLatency: null });
    expect(pricesOfQuality(input, { ...knobs, qualityFloor: 1 }).map(({ points }) => points)).toEqual([-1, 1, 2]);
  });
});
