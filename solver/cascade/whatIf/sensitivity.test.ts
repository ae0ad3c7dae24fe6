import { describe, expect, it } from "vitest";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { choose } from "../choose/choose";
import type { Knobs } from "../explore/exploration";
import { createExplorer } from "../explore/explore";
import type { ExploreInput } from "../explore/explorer";
import { lateBursts, testSample } from "../testing/testSample";
import { PERTURBATIONS, type Perturbation, sensitivityTo } from "./sensitivity";

const MAX_GPUS = 8;
const sample = { ...testSample({ prompts: 500, skills: [0.5, 0.85], seed: 8 }), models: ["qwen2.5-7b", "qwen2.5-32b"] };
const input: ExploreInput = {
  sample,
  shapes: sample.models.map((id) => feasibleReplicas(modelCard(id)!, gpuCard("h100-sxm")!, { gpusPerNode: 8, maxGpus: MAX_GPUS })),
  arrivalSeconds: lateBursts(3000, 3),
  requestsPerSecond: 100,
  maxGpus: MAX_GPUS,
  usdPerGpuHour: 3,
  judge: { secondsPerCall: 0.25, usdPerCall: 0 },
  quantile: 0.95,
  qualityConfidence: 0.9,
  seed: 2,
  cancelled: () => false,
};
const knobs: Knobs = {
  kind: "latency-under-quality",
  latency: "largest-stage",
  qualityFloor: 65,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: MAX_GPUS,
};
const explorer = createExplorer(input);
explorer.search();
explorer.focus({ floor: knobs.qualityFloor, budgetSeconds: null });
const chosen = choose(explorer.exploration(), knobs).chosen!;
const { stages, thresholds, routed } = explorer.routing(chosen.routing);
const plan = { stages, thresholds, startBelow: 0, gpus: chosen.gpus };
const to = (perturbation: Perturbation) => sensitivityTo(perturbation, input, { knobs, plan });

describe("sensitivityTo", () => {
  it("changes nothing and regrets nothing where nothing is perturbed", () => {
    expect(stages).toEqual([0, 1]);
    const still = to({ kind: "rate", factor: 1 });
    expect(still).toMatchObject({
      routingChanges: false,
      deploymentChanges: false,
      keeps: true,
      regret: { latencySeconds: 0, quality: 0 },
    });
    expect(still.kept.latencySeconds).toBeCloseTo(chosen.latencySeconds, 4);
  });

  it("makes the kept plan slower under more load, and never beats planning anew while it keeps the floor", () => {
    const [less, more] = PERTURBATIONS.slice(0, 2).map(to);
    expect(less!.kept.latencySeconds).toBeLessThan(chosen.latencySeconds);
    expect(more!.kept.latencySeconds).toBeGreaterThan(chosen.latencySeconds);
    for (const { keeps, regret, kept } of [less!, more!]) {
      expect(kept.share).toEqual(routed.share);
      expect(keeps).toBe(true);
      expect(regret!.latencySeconds).toBeGreaterThanOrEqual(-1e-6);
    }
  });

  it("sends more to the larger model when a weaker judge reads the same answers, and takes thresholds back when planned anew", () => {
    const weaker = to(PERTURBATIONS[2]!);
    expect(weaker.kept.share[1]).toBeGreaterThan(routed.share[1]!);
    expect(weaker.routingChanges).toBe(true);
    expect(weaker.replanned!.qualityLow).toBeGreaterThanOrEqual(65);
    // Tables of other mixes differ by some tenths of a per cent.
    expect(weaker.replanned!.latencySeconds).toBeGreaterThan(0.99 * chosen.latencySeconds);
    expect(weaker.regret!.latencySeconds).toBeGreaterThanOrEqual(-1e-6);
  });

  it("leaves each stage its own GPUs when one between them is no longer reached", () => {
    const models = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"];
    const three = { ...testSample({ prompts: 500, skills: [0.4, 0.5, 0.85], seed: 8 }), models };
    // Every other prompt starts at the first stage, whose answers are all accepted; the rest starts at the last.
    const routerScore = models.map((_, model) =>
      Float64Array.from({ length: 500 }, (_, prompt) => (model === 0 && prompt % 2 === 0 ? 90 : 10)),
    );
    const shapes = models.map((id) => feasibleReplicas(modelCard(id)!, gpuCard("h100-sxm")!, { gpusPerNode: 8, maxGpus: MAX_GPUS }));
    const started: ExploreInput = { ...input, sample: { ...three, routerScore }, shapes, directStart: { auc: 0.8 } };
    const { kept } = sensitivityTo({ kind: "rate", factor: 1 }, started, {
      knobs,
      plan: { stages: [0, 1, 2], thresholds: [0, 50], startBelow: 50, gpus: [1, 2, 5] },
    });
    expect([kept.stages, kept.gpus]).toEqual([
      [0, 2],
      [1, 5],
    ]);
    expect(kept.latencySeconds).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  it("says that a kept plan no longer keeps up", () => {
    const flooded = to({ kind: "rate", factor: 3 });
    expect(flooded.keeps).toBe(false);
    expect(flooded.kept.latencySeconds).toBe(Number.POSITIVE_INFINITY);
  });
});
