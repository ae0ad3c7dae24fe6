import { beforeAll, describe, expect, it } from "vitest";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { noConstraints } from "@/solver/plan/constraints";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { generatedWorkload } from "@/solver/workload/generated";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";

const situation: PlanningSituation = {
  workload: generatedWorkload({ prompts: 400, seed: 5 }),
  workloadId: "made-up",
  cluster: {
    ...{ id: "c", name: "c", kind: "described", gpu: "h100-sxm", usdPerGpuHour: 3 },
    nodes: [1, 2].map((node) => ({ name: `node${node}`, gpus: 8 })),
  },
  requestsPerSecond: 200,
};
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 55,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 16,
};
const surviving = { ...noConstraints, minReplicasPerModel: 2 };

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
});

function planFor(change: Partial<Objective>, more: Partial<PlanningSituation> = {}): PlanDraft {
  const asked = { ...objective, ...change };
  const answer = desk.work({ ...situation, ...more }, { kind: "solve", objective: asked, fixed: null }, () => false);
  if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
  return answer.draft;
}

const gpusOf = ({ deployment }: PlanDraft): number => deployment.reduce((sum, { gpus }) => sum + gpus, 0);

describe("a plan with a slack", { timeout: 120_000 }, () => {
  it("is the plan without one at a slack of zero, apart from the objective that it records", () => {
    const without = planFor({});
    const zero = planFor({ slack: 0 });
    expect(zero.inputs.objective).toEqual({ ...objective, slack: 0 });
    expect({ ...zero, inputs: without.inputs, solver: without.solver }).toEqual(without);
    expect(zero.solver.slack).toBeUndefined();
    expect({ ...zero.solver, replicaSimulations: 0 }).toEqual({ ...without.solver, replicaSimulations: 0 });
  });

  it.each([
    ["without constraints", {}],
    ["under constraints", { constraints: surviving }],
  ])("buys quality or GPUs with the p95 that it allows, %s", (_, more) => {
    const fastest = planFor({}, more);
    for (const slack of [0.2, 1]) {
      const { predictions, solver, inputs, ...plan } = planFor({ slack }, more);
      const { low } = predictions.qualityBand;
      expect(inputs.objective).toEqual({ ...objective, slack });
      expect(solver.slack?.fastest.p95Seconds).toBe(fastest.predictions.p95Seconds);
      expect(solver.slack?.limitSeconds).toBeCloseTo((1 + slack) * fastest.predictions.p95Seconds, 9);
      expect(predictions.p95Seconds).toBeLessThanOrEqual((1 + slack) * fastest.predictions.p95Seconds);
      expect(low).toBeGreaterThanOrEqual(fastest.predictions.qualityBand.low);
      if (low === fastest.predictions.qualityBand.low)
        expect(plan.deployment.reduce((sum, { gpus }) => sum + gpus, 0)).toBeLessThanOrEqual(gpusOf(fastest));
      expect(solver.why[0]).toMatch(/^Slack \d+ %: p95 may rise from /);
    }
  });

  it("is cheaper the more p95 it allows, where the lowest cost is sought, and never over the budget", () => {
    const fastest = planFor({});
    const budget = 1.5 * fastest.predictions.p95Seconds;
    const plans = [0, 0.25, 1].map((slack) => planFor({ kind: "cost-under-both", slack, latencyBudgetSeconds: budget }));
    const costs = plans.map(({ predictions }) => predictions.costUsdPerRequest);
    expect(costs).toEqual([...costs].sort((a, b) => b - a));
    expect(costs[0]).toBeLessThanOrEqual(fastest.predictions.costUsdPerRequest);
    expect(costs[2]).toBeLessThan(fastest.predictions.costUsdPerRequest);
    for (const { predictions } of plans) expect(predictions.p95Seconds).toBeLessThanOrEqual(budget);
    expect(plans[2]?.solver.slack?.limitSeconds).toBe(budget);
  });

  it("is the routing set by hand, whatever the slack", () => {
    const fixed = { models: ["qwen2.5-7b", "qwen2.5-32b"], thresholds: [40] };
    const byHand = (slack: number) => {
      const answer = desk.work(situation, { kind: "solve", objective: { ...objective, slack }, fixed }, () => false);
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      return answer.draft;
    };
    expect(byHand(1).deployment).toEqual(byHand(0).deployment);
    expect(byHand(1).solver.slack).toBeUndefined();
  });
});
