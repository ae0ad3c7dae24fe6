import { beforeAll, describe, expect, it } from "vitest";
import type { FixedJudge, PlanningSituation } from "@/solver/cascade/explore/situation";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { generatedWorkload } from "@/solver/workload/generated";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";
import { situationOf } from "./situationOf";

const situation: PlanningSituation = {
  workload: generatedWorkload({ prompts: 600, seed: 5 }),
  workloadId: "made-up",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: 40,
};
const fixed = { models: ["qwen2.5-7b", "qwen2.5-32b"], thresholds: [50] };

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
});

function planWith(judge: Partial<FixedJudge>): PlanDraft {
  const objective: Objective = {
    kind: "latency-under-quality",
    latency: "end-to-end",
    percentile: 95,
    qualityFloor: 0,
    qualityConfidence: 0.9,
    latencyBudgetSeconds: null,
    maxGpus: 8,
  };
  const asked = { ...situation, judge: { kind: "fixed", secondsPerCall: 0.27, usdPerCall: 0, ...judge } } as const;
  const answer = desk.work(asked, { kind: "solve", objective, fixed }, () => false);
  if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
  return answer.draft;
}

describe("the time of a judge outside of the deployment", { timeout: 60_000 }, () => {
  it("moves the predicted p95 and mean of a judged cascade by as much as it differs", () => {
    const [fast, slow] = [planWith({ secondsPerCall: 0.02 }).predictions, planWith({ secondsPerCall: 0.27 }).predictions];
    expect(slow.meanSeconds - fast.meanSeconds).toBeGreaterThan(0.23);
    expect(slow.meanSeconds - fast.meanSeconds).toBeLessThan(0.27);
    expect(slow.p95Seconds - fast.p95Seconds).toBeGreaterThan(0.2);
    expect(slow.p95Seconds - fast.p95Seconds).toBeLessThan(0.3);
  });

  it("raises the p95 where it varies, and the mean not", () => {
    const steady = planWith({ secondsPerCall: 1 }).predictions;
    const varying = planWith({ secondsPerCall: 1, variation: { tokens: 300, lengthShare: 0, logSpread: 0.8 } }).predictions;
    expect(varying.meanSeconds / steady.meanSeconds).toBeCloseTo(1, 1);
    // A lognormal with this spread has its 95th percentile at 2.7 times the mean.
    expect(varying.p95Seconds).toBeGreaterThan(steady.p95Seconds + 0.5);
    // The tables used by browser and search account for it too.
    expect(Math.abs(varying.tableError)).toBeLessThan(0.12);
  });

  it("is recorded in the plan under the judge's own name, and is planned with again", () => {
    const variation = { tokens: 300, lengthShare: 0.5, logSpread: 0.2 };
    const draft = planWith({ model: "our-judge", secondsPerCall: 0.05, variation });
    expect(draft.policy.judge).toEqual({ model: "our-judge", secondsPerCall: 0.05, usdPerCall: 0, variation });
    const { judge } = situationOf({ policy: draft.policy, inputs: draft.inputs }, situation.workload);
    expect(judge).toEqual({ kind: "fixed", model: "our-judge", secondsPerCall: 0.05, usdPerCall: 0, variation });
  });
});
