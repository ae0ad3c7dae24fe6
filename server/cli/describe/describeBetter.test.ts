import { describe, expect, it } from "vitest";
import type { Examination } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { describeBetter } from "./describeBetter";

const plan = {
  predictions: { quality: 84, qualityBand: { low: 82 }, p95Seconds: 3, largestStageP95Seconds: 2, costUsdPerRequest: 0.002 },
  deployment: [{ gpus: 8 }],
  inputs: {
    objective: {
      ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 80, qualityConfidence: 0.9 },
      ...{ latencyBudgetSeconds: null, maxGpus: 8 },
    },
  },
  solver: {},
  policy: { kind: "cascade", stages: [{ model: "small" }, { model: "large" }], thresholds: [60] },
} as unknown as Plan;

type Baseline = Extract<Examination, { kind: "baselines" }>["systems"][number];
const gain: Baseline = {
  ...{ name: "cascade routing", attainable: true, cascade: "small, large", routing: null, policy: "cascade-routing" },
  ...{ quality: 83, qualityLow: 81, latencySeconds: 2.5, gpus: 8, costUsdPerRequest: 0.002, heldOut: null },
  deployed: [{ model: "small", replicas: [{ shape: { tp: 1, pp: 1 }, count: 8 }] }],
};
const said = (...systems: readonly Baseline[]) =>
  describeBetter(plan, { kind: "baselines", planHeldOut: { quality: 83, latencySeconds: 3 }, systems, refused: [] });

describe("a baseline that is better than a plan", () => {
  it("is named on the command line with its figure and the flag that plans it", () => {
    expect(said(gain)).toContain("The baseline cascade routing is better than this plan: 2.50 s instead of 3.00 s.");
    expect(said(gain)).toContain("--policy cascade-routing");
  });

  it("is none that misses the floor, is slower, or is a bound", () => {
    expect(said({ ...gain, qualityLow: 79 }, { ...gain, latencySeconds: 3.1 }, { ...gain, attainable: false })).toBe("");
    expect(describeBetter(plan, { kind: "sensitivity", cases: [] })).toBe("");
  });

  it("is planned in the studio where it is thresholds of its own", () => {
    const { policy: _, ...own } = gain;
    expect(said({ ...own, name: "CascadeServe", routing: { models: ["small", "large"], thresholds: [40] } })).toContain("The Plan page");
  });

  it("is planned in the studio by its replicas where its thresholds are the plan's, unless a model has several shapes", () => {
    const { policy: _, ...own } = { ...gain, name: "CascadeServe", routing: { models: ["small", "large"], thresholds: [60] } };
    expect(said(own)).toContain("the Plan page of the studio plans it with these as constraints");
    const mixed = [{ model: "small", replicas: [1, 2].map((tp) => ({ shape: { tp, pp: 1 }, count: 2 })) }];
    expect(said({ ...own, deployed: mixed })).not.toContain("Plan page");
    expect(said({ ...own, deployed: mixed })).toContain("several shapes");
  });
});
