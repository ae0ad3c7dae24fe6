import { describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { workloadHash } from "@/server/workloads/workloadCodec";
import type { HostedModel } from "@/solver/hardware/hostedModel";
import { noConstraints } from "@/solver/plan/constraints";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk } from "./planningDesk";
import type { Resolved } from "./planningRequest";

const workload = shortWorkload({ prompts: 400, seed: 3 });
const [smallest, ...larger] = workload.outcomes.models.map(({ model }) => model);
const largest = larger.at(-1) ?? "";

const objective: Objective = {
  kind: "cost-under-both",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 40,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: 60,
  maxGpus: 16,
};

/** At this floor the smallest model is not enough. */
const demanding: Objective = { ...objective, qualityFloor: 45 };

const hosted = (change: Partial<HostedModel> = {}): HostedModel => ({
  ...{ model: largest, kind: "openai", url: "https://provider.example", maxInFlight: 1000 },
  ...{ usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0, mostOutputTokens: 4096, mostPauseSeconds: 30 },
  ...{ ttftSeconds: 0.05, secondsPerOutputToken: 0.001 },
  ...change,
});

const request = (change: Partial<Resolved<SolveRequest>>, models?: readonly HostedModel[]): Resolved<SolveRequest> => ({
  workload,
  workloadId: workloadHash(workload),
  cluster: {
    ...{ id: "test", name: "test", kind: "described", gpu: "h100-sxm", usdPerGpuHour: 3 },
    nodes: [1, 2].map((index) => ({ name: `node${index}`, gpus: 8 })),
    ...(models === undefined ? {} : { hosted: [...models] }),
  },
  requestsPerSecond: 20,
  objective,
  fixed: null,
  ...change,
});

type Drafted = PlanDraft;

const desk = createPlanningDesk(await loadGlpkEngine(), () => 0);

function answerTo({ objective: asked, fixed, policy, ...situation }: Resolved<SolveRequest>) {
  return desk.work(situation, { kind: "solve", objective: asked, fixed, ...(policy !== undefined && { policy }) }, () => false);
}

function planOf(asked: Resolved<SolveRequest>): Drafted {
  const answer = answerTo(asked);
  if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
  return answer.draft;
}

const refusalOf = (asked: Resolved<SolveRequest>): string => {
  const answer = answerTo(asked);
  return answer.kind === "infeasible" ? answer.answer.reason : "";
};

describe("a plan", () => {
  it("is the same with hosted models in the cluster's file as without, where the data does not leave the house", () => {
    const without = planOf(request({}));
    const barred = planOf(request({}, [hosted()]));
    const { predictions, deployment, policy } = without;
    expect(barred).toMatchObject({ predictions, deployment, policy });
  });

  it.each([40, 45, 50, 55])("never costs more with a hosted model that is free and fast, at a floor of %i", (qualityFloor) => {
    const at = { objective: { ...objective, qualityFloor } };
    const own = planOf(request(at));
    const out = planOf(request({ ...at, dataMayLeave: true }, [hosted()]));
    expect(out.predictions.costUsdPerRequest).toBeLessThanOrEqual(own.predictions.costUsdPerRequest * (1 + 1e-9));
    expect(out.predictions.quality).toBeGreaterThan(0);
  });

  it("keeps its own GPUs for the hosted model's requests out, and has the money of both", () => {
    const price = { usdPerMillionInputTokens: 0.2, usdPerMillionOutputTokens: 0.4 };
    const plan = planOf(request({ dataMayLeave: true, objective: demanding }, [hosted(price)]));
    const [sent] = plan.predictions.hosted ?? [];
    expect(sent?.model).toBe(largest);
    expect(modelsOf(plan.policy).at(-1)).toBe(largest);
    expect(plan.deployment.map(({ model }) => model)).not.toContain(largest);
    const gpus = plan.deployment.reduce((sum, one) => sum + one.gpus, 0);
    const stage = plan.predictions.stages.find(({ model }) => model === largest);
    expect(sent?.share).toBeCloseTo(stage?.share ?? 0, 6);
    expect(plan.predictions.costUsdPerHour).toBeCloseTo(3 * gpus + (sent?.usdPerHour ?? 0), 6);
    expect(plan.predictions.costUsdPerRequest).toBeCloseTo(plan.predictions.costUsdPerHour / 3600 / 20, 9);
    expect(plan.metadata.name).toContain(`${largest} (hosted)`);
    // By the mean over the prompts that reach it.
    expect(sent?.usdPerHour).toBeGreaterThan(0);
  });

  it("sends no more out than a budget, a rate of requests or a rate of tokens carries", () => {
    const price = { usdPerMillionInputTokens: 0.2, usdPerMillionOutputTokens: 0.4 };
    const best: Objective = { ...objective, kind: "quality-under-latency", qualityFloor: null };
    const out = { dataMayLeave: true as const, objective: best };
    const free = planOf(request(out, [hosted(price)])).predictions.hosted?.[0];
    if (free === undefined) throw new Error("Nothing is sent out.");
    for (const limit of [
      { usdPerHour: free.usdPerHour / 2 },
      { usdPerDay: free.usdPerHour * 12 },
      { requestsPerMinute: Math.ceil(free.requestsPerSecond * 30) },
    ]) {
      const plan = planOf(request(out, [hosted({ ...price, ...limit })]));
      const sent = plan.predictions.hosted?.[0];
      expect(sent?.usdPerHour).not.toBe(free.usdPerHour);
      expect(sent?.usdPerHour ?? 0).toBeLessThanOrEqual(limit.usdPerHour ?? Number.POSITIVE_INFINITY);
      expect(24 * (sent?.usdPerHour ?? 0)).toBeLessThanOrEqual(limit.usdPerDay ?? Number.POSITIVE_INFINITY);
      expect(60 * (sent?.requestsPerSecond ?? 0)).toBeLessThanOrEqual(limit.requestsPerMinute ?? Number.POSITIVE_INFINITY);
    }
  });

  it("is slower with a slower provider", () => {
    const fixed = { models: [smallest ?? "", largest], thresholds: [70] };
    const at = (ttftSeconds: number): number =>
      planOf(request({ dataMayLeave: true, fixed }, [hosted({ ttftSeconds })])).predictions.stages[1]?.meanSeconds ?? 0;
    expect(at(3) - at(0.5)).toBeCloseTo(2.5, 1);
  });

  it("leaves out a model that only a provider could serve, and refuses it by name, where the data does not leave the house", () => {
    const models = workload.outcomes.models.map((one) => (one.model === largest ? { ...one, model: "far" } : one));
    const renamed = { ...workload, outcomes: { ...workload.outcomes, models } };
    const far = (change: Partial<Resolved<SolveRequest>>) =>
      request({ workload: renamed, workloadId: workloadHash(renamed), ...change }, [hosted({ model: "far" })]);
    expect(planOf(far({})).inputs.models).not.toContain("far");
    expect(refusalOf(far({ fixed: { models: [smallest ?? "", "far"], thresholds: [70] } }))).toContain("does not leave the house");
    expect(refusalOf(far({ models: [smallest ?? "", "far"] }))).toContain("does not leave the house");
    expect(modelsOf(planOf(far({ dataMayLeave: true })).policy)).toContain("far");
  });

  it("refuses in one sentence what hosted models cannot be", () => {
    const out = { dataMayLeave: true as const };
    expect(refusalOf(request(out, [hosted({ ttftSeconds: undefined })]))).toContain("has no latency to plan with");
    expect(refusalOf(request({ ...out, constraints: { ...noConstraints, surviveNodeLoss: true } }, [hosted()]))).toContain(
      "leave out constraints on replicas",
    );
    expect(refusalOf(request({ ...out, policy: "slack" }, [hosted()]))).toContain("stages of cascades by thresholds");
  });
});
