import { beforeAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { servingFiguresOf } from "@/solver/cascade/whatIf/servingFigures";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { DispatchDraft, Objective, PlanDraft } from "@/solver/plan/plan";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { generatedWorkload } from "@/solver/workload/generated";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";
import { sealPlan } from "./sealPlan";

const situation: PlanningSituation = {
  workload: generatedWorkload({ prompts: 500, seed: 5 }),
  workloadId: "generated",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: 60,
};
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 66,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 8,
};

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
});

function solve(asked: Partial<Pick<SolveRequest, "policy" | "tau">> = {}, change: Partial<Objective> = {}, where = situation) {
  const answer = desk.work(where, { kind: "solve", objective: { ...objective, ...change }, fixed: null, ...asked }, () => false);
  return answer.kind === "draft" || answer.kind === "dispatch-draft" ? answer.draft : answer;
}

function planned(...asked: Parameters<typeof solve>): PlanDraft | DispatchDraft {
  const draft = solve(...asked);
  if (draft.kind !== "Plan") throw new Error(JSON.stringify(draft));
  return draft;
}

const withoutChoice = ({
  inputs: { policyChoice: _, ...inputs },
  solver: { policies: __, ...solver },
  ...plan
}: PlanDraft | DispatchDraft) => ({
  ...plan,
  inputs,
  solver,
});

describe("a choice of policies", () => {
  it("plans a cascade exactly as without a choice, and with a slack of zero", () => {
    const plain = planned();
    expect(planned({ policy: "cascade" })).toEqual(plain);
    const { inputs, ...same } = planned({}, { slack: 0 });
    expect(same).toEqual((({ inputs: _, ...rest }) => rest)(plain));
    expect(inputs.objective).toEqual({ ...objective, slack: 0 });
  });

  it("recommends of all kinds the fastest by its own simulation, at equal GPUs, and lists each kind's best", () => {
    const any = planned({ policy: "any" });
    const each = (["cascade", "one-model", "slack"] as const).map((policy) => solve({ policy }));
    const seconds = each.flatMap((one) => (one.kind === "Plan" ? [one.predictions.p95Seconds] : []));
    expect(any.predictions.p95Seconds).toBe(Math.min(...seconds));
    expect(any.solver.policies?.map(({ policy }) => policy)).toEqual(["cascade", "cascade-routing", "one-model", "slack"]);
    expect(any.solver.policies?.[1]?.reason).toContain("train a predictor of confidence");
    expect(any.solver.policies?.filter(({ chosen }) => chosen)).toHaveLength(1);
    expect(any.solver.policies?.flatMap(({ p95Seconds }) => p95Seconds ?? [])).toEqual(seconds);
  });

  it("plans one model alone on request, though a cascade may be faster", () => {
    const draft = planned({ policy: "one-model" });
    expect(draft.deployment).toHaveLength(1);
    expect(withoutChoice(draft).predictions.qualityBand.low).toBeGreaterThanOrEqual(66);
  });

  it("predicts of a slack dispatch what its policy does on its own engines", () => {
    const draft = planned({ policy: "slack" });
    if (draft.policy.kind !== "slack") throw new Error("slack dispatch was asked for");
    expect(policyRefusal(draft.policy)).toBeNull();
    const engines = draft.deployment.flatMap(({ model, gpu, replicas }) =>
      replicas.flatMap(({ tp, pp, count, maxInFlight = 256 }) =>
        Array.from({ length: count }, () => ({ model, gpu, tp, pp, maxInFlight })),
      ),
    );
    const figures = servingFiguresOf({
      workload: situation.workload,
      requestsPerSecond: situation.requestsPerSecond,
      cards: catalogueOf(noUserCards),
      profile: vllmProfile,
    })({ policy: draft.policy, engines });
    expect(figures.p95Seconds).toBeCloseTo(draft.predictions.p95Seconds, 9);
    expect(figures.quality ?? 0).toBeGreaterThan(draft.predictions.quality - 1.5);
    expect(figures.quality ?? 100).toBeLessThan(draft.predictions.quality + 1.5);
  });

  it("seals a slack dispatch with a range of tau in which every simulated tau keeps the floor", () => {
    const plan = sealPlan(planned({ policy: "slack" }) as DispatchDraft, new Date(0));
    const { min, max } = plan.policy.approvedRanges.tau;
    const steps = plan.predictions.slack?.steps ?? [];
    expect(steps.length).toBeGreaterThan(5);
    const inside = steps.filter(({ value }) => value >= min && value <= max);
    expect(inside.every(({ approved, qualityLow }) => approved && qualityLow >= 66)).toBe(true);
    expect(steps.filter(({ value }) => value < min || value > max).every(({ approved }) => !approved)).toBe(true);
    expect(inside.map(({ value }) => value)).toContain(plan.policy.tau);
  });

  it("holds a tau that is asked for, and says what it reaches where that misses the floor", () => {
    const draft = planned({ policy: "slack", tau: 0.75 }, { qualityFloor: 58 });
    expect(draft.policy.kind === "slack" && draft.policy.tau).toBe(0.75);
    const missed = solve({ policy: "slack", tau: 0.75 }, { qualityFloor: 69 });
    expect(missed).toMatchObject({ kind: "infeasible", answer: { kind: "quality-floor" } });
    expect(JSON.stringify(missed)).toContain("with a tau of 0.75, under the floor of 69");
  });

  it("lets the p95 rise by a slack and no further, for a quality that is no lower", () => {
    const fastest = planned({ policy: "any" });
    const slack = planned({ policy: "any" }, { slack: 0.4 });
    expect(slack.solver.slack?.limitSeconds).toBeCloseTo(1.4 * fastest.predictions.p95Seconds, 9);
    expect(slack.predictions.p95Seconds).toBeLessThanOrEqual(1.4 * fastest.predictions.p95Seconds);
    expect(slack.predictions.qualityBand.low).toBeGreaterThanOrEqual(fastest.predictions.qualityBand.low);
    expect(slack.inputs.objective.slack).toBe(0.4);
  });

  it("explores divisions of the GPUs for high qualities as for low ones, though many with small models are as fast", () => {
    const answer = desk.work(situation, { kind: "dispatch" }, () => false);
    if (answer.kind !== "dispatch") throw new Error(answer.kind);
    const { allocations, models } = answer.dispatch;
    const largest = allocations.filter((one) => one.models.includes(models.length - 1));
    expect(largest.length).toBeGreaterThanOrEqual(allocations.length / 3);
  });

  it("says why there is no slack dispatch: one model only, several GPU types, constraints on replicas, too high a floor", () => {
    const one = { ...situation, models: situation.workload.outcomes.models.slice(0, 1).map(({ model }) => model) };
    expect(desk.work(one, { kind: "dispatch" }, () => false)).toMatchObject({ kind: "no-dispatch", answer: { kind: "one-model" } });
    const nodes = [...situation.cluster.nodes, { name: "node2", gpus: 4, gpu: "l40s" }];
    const mixed = { ...situation, cluster: { ...situation.cluster, nodes, otherUsdPerGpuHour: { l40s: 1 } } };
    expect(desk.work(mixed, { kind: "dispatch" }, () => false)).toMatchObject({ kind: "no-dispatch", answer: { kind: "gpu-types" } });
    expect(solve({ policy: "slack" }, { qualityFloor: 99 })).toMatchObject({ kind: "infeasible", answer: { kind: "quality-floor" } });
  });

  it("explores slack dispatch over tau: with more slack the surest model answers no less", () => {
    const answer = desk.work(situation, { kind: "dispatch" }, () => false);
    if (answer.kind !== "dispatch") throw new Error(answer.kind);
    const { allocations, points, confidence } = answer.dispatch;
    expect(confidence).toBe("stated");
    for (const [allocation] of allocations.entries()) {
      const shares = points.filter((point) => point.allocation === allocation).map(({ share }) => share.at(-1) ?? 0);
      for (const [at, share] of shares.entries()) if (at > 0) expect(share).toBeGreaterThan((shares[at - 1] ?? 0) - 0.05);
    }
  });
});
