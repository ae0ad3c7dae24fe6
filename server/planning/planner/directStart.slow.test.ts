import { beforeAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { decodeExploration, encodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { planningSample, routePrompts } from "@/solver/cascade/routing/routing";
import type { StartBelow } from "@/solver/plan/directStart";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { generatedWorkload } from "@/solver/workload/generated";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { splitPrompts } from "@/solver/workload/split";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";

type Fixed = SolveRequest["fixed"];

const AUC = 0.75;
const workload = generatedWorkload({ prompts: 1500, seed: 4 });
const without: PlanningSituation = {
  workload,
  workloadId: "made-up",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: 140,
};
const asked: PlanningSituation = { ...without, directStart: { auc: AUC } };
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 62,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 8,
};

function planned(desk: PlanningDesk, situation: PlanningSituation): PlanDraft {
  const answer = desk.work(situation, { kind: "solve", objective, fixed: null }, () => false);
  if (answer.kind !== "draft") throw new Error(answer.kind === "infeasible" ? answer.answer.reason : answer.kind);
  return answer.draft;
}

describe("planning with a direct start", () => {
  let desk: PlanningDesk;
  let later: PlanDraft;
  let plain: PlanDraft;
  beforeAll(async () => {
    desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
    later = planned(desk, asked);
    plain = planned(desk, without);
  });

  it("starts later what a router is sure about, and is faster for it under the same floor", () => {
    const { policy, predictions } = later;
    expect(policy.directStart).toMatchObject({ router: { kind: "modelled", auc: AUC } });
    expect([policy.directStart!.below].flat()[0]).toBeGreaterThan(0);
    expect(predictions.qualityBand.low).toBeGreaterThanOrEqual(objective.qualityFloor!);
    expect(predictions.p95Seconds).toBeLessThan(plain.predictions.p95Seconds);
  });

  it("says where requests start, and every one starts somewhere", () => {
    const { stages } = later.predictions;
    expect(stages[0]!.share).toBeLessThan(1);
    expect(stages.reduce((sum, stage) => sum + stage.startShare!, 0)).toBeCloseTo(1, 9);
    for (const { share, startShare } of stages) expect(share).toBeGreaterThanOrEqual(startShare!);
  });

  it("foresees about the shares and the quality that prompts it has not seen then show", () => {
    const { policy, predictions } = later;
    const models = policy.stages.map(({ model }) => model);
    const outcomes = withRouterScores(workload.outcomes, { auc: AUC, seed: workload.seed });
    const fresh = planningSample(outcomes, splitPrompts(workload.outcomes.promptIds.length, workload.seed).heldOut, models);
    const { share, quality } = routePrompts(fresh, [...models.keys()], policy.thresholds, policy.directStart!.below);
    // 450 prompts determine a share to 2.4 points; the bound is four times that.
    for (const [stage, own] of predictions.stages.entries()) expect(Math.abs(own.share - share[stage]!)).toBeLessThan(0.1);
    expect(Math.abs(predictions.quality - quality)).toBeLessThan(10);
  });

  it("is planned again as it is when it is set by hand, and told from the same thresholds without it", () => {
    const { stages, thresholds, directStart } = later.policy;
    const by = (startBelow?: StartBelow) => {
      const fixed = { models: stages.map(({ model }) => model), thresholds, startBelow };
      return desk.work(asked, { kind: "solve", objective, fixed }, () => false);
    };
    const [again, fromFirst] = [by(directStart!.below), by()].map((answer) => {
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      return answer.draft;
    });
    expect(again!.policy).toEqual(later.policy);
    expect(again!.predictions).toEqual(later.predictions);
    expect(fromFirst!.policy.directStart).toBeUndefined();
    expect(fromFirst!.predictions.stages[0]!.share).toBe(1);
    const refused = desk.work(
      without,
      { kind: "solve", objective, fixed: { models: ["qwen2.5-3b", "qwen2.5-7b"], thresholds: [50], startBelow: 70 } },
      () => false,
    );
    expect(refused).toMatchObject({ answer: { reason: expect.stringContaining("needs a router: ask for a direct start") } });
  });

  it("says that it rests on a modelled router, and when that is a coin", () => {
    expect(later.predictions.notes.join(" ")).toContain("a router that is modelled with an AUC of 0.75.");
    expect(plain.predictions.notes.join(" ")).not.toContain("a router");
    const { stages, thresholds } = later.policy;
    const fixed = { models: stages.map(({ model }) => model), thresholds, startBelow: 50 };
    const coin = desk.work({ ...without, directStart: { auc: 0.5 } }, { kind: "solve", objective, fixed }, () => false);
    if (coin.kind !== "draft") throw new Error(JSON.stringify(coin));
    expect(coin.draft.predictions.notes.join(" ")).toContain("an AUC of 0.50, no better than a coin.");
  });

  it("is recorded as asked, also where the plan comes to have none", () => {
    expect(later.inputs.directStart).toEqual({ auc: AUC });
    expect(plain.inputs.directStart).toBeUndefined();
    const alone = desk.work(
      asked,
      { kind: "solve", objective, fixed: { models: ["qwen2.5-32b"], thresholds: [], startBelow: 70 } },
      () => false,
    );
    expect(alone).toMatchObject({ draft: { inputs: { directStart: { auc: AUC } }, policy: { stages: [{ model: "qwen2.5-32b" }] } } });
    expect(alone.kind === "draft" && alone.draft.policy.directStart).toBeUndefined();
  });

  it("says of thresholds of 0 that no answer is judged, and predicts no time of a judge", () => {
    const { stages, thresholds, directStart } = later.policy;
    const fixed = { models: stages.map(({ model }) => model), thresholds: thresholds.map(() => 0), startBelow: directStart!.below };
    const at = (secondsPerCall: number) => {
      const judge = { kind: "fixed", secondsPerCall, usdPerCall: 0.01 } as const;
      const answer = desk.work({ ...asked, judge }, { kind: "solve", objective, fixed }, () => false);
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      return answer.draft;
    };
    const [usual, slow] = [at(0.27), at(5)];
    expect(usual.predictions.notes.join(" ")).toContain("No answer is judged");
    expect(usual.policy.approvedRanges.thresholds.every(({ min, max }) => min === 0 && max === 0)).toBe(true);
    expect(slow.predictions.p95Seconds).toBe(usual.predictions.p95Seconds);
    expect(slow.predictions.costUsdPerRequest).toBeCloseTo(usual.predictions.costUsdPerHour / 3600 / asked.requestsPerSecond, 9);
    expect(later.predictions.notes.join(" ")).not.toContain("No answer is judged");
  });

  it("by a trained router names its predictor, and no baseline by the same scores is better", () => {
    const predictor = "5e".repeat(32);
    const scored = { ...workload, outcomes: withRouterScores(workload.outcomes, { auc: AUC, seed: 99 }) };
    const trained: PlanningSituation = { ...without, workload: scored, directStart: { predictor } };
    const { policy, inputs, predictions } = planned(desk, trained);
    expect(policy.directStart?.router).toEqual({ kind: "trained", predictor });
    expect(inputs.directStart).toEqual({ predictor });
    expect(predictions.qualityBand.low).toBeGreaterThanOrEqual(objective.qualityFloor!);
    expect(predictions.notes.join(" ")).toContain("the trained predictor 5e5e5e5e");
    const answer = desk.work(trained, { kind: "examine", examine: "baselines", objective, fixed: null }, () => false);
    if (answer.kind !== "examination" || answer.examination.kind !== "baselines") throw new Error(JSON.stringify(answer));
    const { systems, refused } = answer.examination;
    const router = systems.find(({ name }) => name === "trained router");
    if (router === undefined) throw new Error(JSON.stringify(refused));
    expect(router.attainable).toBe(true);
    expect(systems.filter(({ name }) => name.includes("modelled")).every(({ attainable }) => !attainable)).toBe(true);
    expect(router.latencySeconds ?? Number.POSITIVE_INFINITY).toBeGreaterThan(0.98 * predictions.p95Seconds);
    // What the page offers where a trained router is better: the same quality by a plan with thresholds of 0.
    const byHand = desk.work(trained, { kind: "solve", objective, fixed: structuredClone(router.routing) as Fixed }, () => false);
    if (byHand.kind !== "draft") throw new Error(JSON.stringify(byHand));
    expect(byHand.draft.predictions.quality).toBeCloseTo(router.quality, 6);
    expect(byHand.draft.predictions.p95Seconds).toBeLessThan(1.1 * (router.latencySeconds ?? 0));
  });

  it("leaves no trace where it is not asked, also on a desk that planned with it before", async () => {
    const fresh = createPlanningDesk(await loadGlpkEngine(), () => 0);
    expect(plain).toEqual(planned(fresh, without));
    expect(plain.policy.directStart).toBeUndefined();
    expect(plain.predictions.stages.every(({ startShare }) => startShare === undefined)).toBe(true);
  });

  it("brings every routing to the browser as it was", () => {
    const answer = desk.work(asked, { kind: "explore" }, () => false);
    if (answer.kind !== "exploration") throw new Error(answer.kind);
    const exploration = decodeExploration(JSON.parse(JSON.stringify(answer.exploration)));
    const starts = new Set(exploration.routings.map(({ startBelow }) => startBelow));
    expect(starts.has(0) && starts.size > 10).toBe(true);
    expect(encodeExploration(exploration)).toEqual(answer.exploration);
  });
});
