import { beforeAll, describe, expect, it } from "vitest";
import { choose } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { noConstraints } from "@/solver/plan/constraints";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { generatedWorkload } from "@/solver/workload/generated";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";

const JUDGE = "llama-3.1-8b";
const situation: PlanningSituation = {
  workload: generatedWorkload({ prompts: 400, seed: 5 }),
  workloadId: "made-up",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: 150,
};
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 55,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 8,
};
const engineOf = (outputTokens: number): NonNullable<PlanningSituation["judge"]> => ({
  kind: "engine",
  model: JUDGE,
  rubricTokens: 150,
  outputTokens,
});

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
});

function planWith(judge: NonNullable<PlanningSituation["judge"]>, more: Partial<PlanningSituation> = {}): PlanDraft {
  const answer = desk.work({ ...situation, ...more, judge }, { kind: "solve", objective, fixed: null }, () => false);
  if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
  return answer.draft;
}

describe("a judge as an engine of its own", { timeout: 60_000 }, () => {
  it("is deployed beside the stages, paid for, and queued at when the plan is simulated whole", () => {
    const { deployment, policy, predictions } = planWith(engineOf(4));
    expect(policy.stages.length).toBeGreaterThan(1);
    expect(deployment.map(({ model }) => model)).toEqual([...policy.stages.map(({ model }) => model), JUDGE]);
    expect(deployment.reduce((sum, { gpus }) => sum + gpus, 0)).toBeLessThanOrEqual(8);
    expect(predictions.costUsdPerHour).toBe(3 * deployment.reduce((sum, { gpus }) => sum + gpus, 0));
    expect(policy.judge).toMatchObject({ model: JUDGE, usdPerCall: 0, engine: { rubricTokens: 150, outputTokens: 4 } });
    expect(policy.judge.secondsPerCall).toBeGreaterThan(0);
    expect(Math.abs(predictions.tableError)).toBeLessThan(0.1);
    expect(predictions.stages).toHaveLength(policy.stages.length);
    const { judge, stages } = predictions;
    expect(judge?.meanSeconds).toBe(policy.judge.secondsPerCall);
    expect(judge?.requestsPerSecond).toBeCloseTo(
      stages.slice(0, -1).reduce((sum, stage) => sum + stage.requestsPerSecond, 0),
      6,
    );
    // The mean over all GPUs is between the least and the most loaded, including the judge.
    const loads = [...stages.map((stage) => stage.utilisation), judge?.utilisation ?? 0];
    expect(predictions.utilisation).toBeGreaterThanOrEqual(Math.min(...loads));
    expect(predictions.utilisation).toBeLessThanOrEqual(Math.max(...loads));
  });

  it("does not run where one model alone answers, though it was asked for", () => {
    const fixed = { models: ["qwen2.5-32b"], thresholds: [] };
    const answer = desk.work({ ...situation, requestsPerSecond: 60, judge: engineOf(4) }, { kind: "solve", objective, fixed }, () => false);
    if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
    const { deployment, policy, inputs } = answer.draft;
    expect(deployment.map(({ model }) => model)).toEqual(["qwen2.5-32b"]);
    expect(policy.judge.engine).toBeUndefined();
    expect(inputs.judgeEngine).toEqual({ model: JUDGE, rubricTokens: 150, outputTokens: 4 });
  });

  it("leaves the stages less than one of the same time that takes no GPUs, and less still the more it writes", () => {
    const short = planWith(engineOf(4));
    const long = planWith(engineOf(40));
    const free = planWith({ kind: "fixed", secondsPerCall: short.policy.judge.secondsPerCall, usdPerCall: 0 });
    expect(short.predictions.p95Seconds).toBeGreaterThan(free.predictions.p95Seconds);
    expect(long.predictions.p95Seconds).toBeGreaterThan(short.predictions.p95Seconds);
  });

  it("keeps constraints like any model", () => {
    const nodes = [1, 2].map((node) => ({ name: `node${node}`, gpus: 8 }));
    const { deployment, policy } = planWith(engineOf(4), {
      cluster: { ...situation.cluster, nodes },
      constraints: { ...noConstraints, minReplicasPerModel: 2, maxGpus: 8 },
    });
    expect(deployment).toHaveLength(policy.stages.length + (policy.stages.length > 1 ? 1 : 0));
    for (const { replicas } of deployment) expect(replicas.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(2);
  });

  it("is chosen with in the browser as in the plan", () => {
    const answer = desk.work({ ...situation, judge: engineOf(4) }, { kind: "explore" }, () => false);
    if (answer.kind !== "exploration") throw new Error(answer.kind);
    const { chosen } = choose(decodeExploration(JSON.parse(JSON.stringify(answer.exploration))), objective);
    expect(chosen?.gpus).toHaveLength(3);
    expect(chosen?.gpus.reduce((sum, gpus) => sum + gpus, 0)).toBe(chosen?.gpusTotal);
  });

  it("is refused where it cannot be told from a model that answers, or fits nowhere", () => {
    const reasonOf = (model: string, excluded: string[] = []) => {
      const judge: NonNullable<PlanningSituation["judge"]> = { kind: "engine", model, rubricTokens: 0, outputTokens: 1 };
      const asked = { ...situation, judge, constraints: { ...noConstraints, excluded } };
      const answer = desk.work(asked, { kind: "explore" }, () => false);
      return answer.kind === "infeasible" ? answer.answer.reason : answer.kind;
    };
    expect(reasonOf("qwen2.5-7b")).toContain("answers and cannot judge itself");
    expect(reasonOf("qwen2.5-7b", ["qwen2.5-7b"])).toContain("is excluded and cannot judge");
    expect(reasonOf("gpt-9")).toContain("no card of the judge's model gpt-9");
    expect(reasonOf("deepseek-v3")).toMatch(/fits on no GPUs|no card/);
  });
});
