import { beforeAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import { gateKinds } from "@/solver/gates/gateDocument";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { type Objective, type PlanDraft, planSchema } from "@/solver/plan/plan";
import type { GateChoice } from "@/solver/plan/planGates";
import { gatesByModel, policySchema } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { stageGatesOf } from "@/solver/stageGates/stageGate";
import { withColumns } from "@/solver/stageGates/testing/gateColumns";
import { generatedWorkload } from "@/solver/workload/generated";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { splitPrompts } from "@/solver/workload/split";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";
import { sealPlan } from "./sealPlan";

const workload = generatedWorkload({ prompts: 600, seed: 5 });
const plain: PlanningSituation = {
  workload,
  workloadId: "generated",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: 60,
};
const artefact = "ab".repeat(32);
/** The scores of a modelled router stand in for those of trained heads: what the planner reads of either is the same. */
const scored: PlanningSituation = {
  ...plain,
  workload: { ...workload, outcomes: withRouterScores(workload.outcomes, { auc: 0.8, seed: 3 }) },
  confidence: { artefact },
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

/** With columns of confidence and agreement, and a judge as if measured: every gate can be planned with. */
const gated: PlanningSituation = {
  ...scored,
  workload: { ...withColumns(scored.workload, { samples: 2 }), judge: { kind: "measured" } },
  workloadId: "with columns",
};

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
});

function solve(policy: NonNullable<SolveRequest["policy"]>, change: Partial<Objective> = {}, where = scored, gateChoice?: GateChoice) {
  const task = { kind: "solve", objective: { ...objective, ...change }, fixed: null, policy, gateChoice } as const;
  const answer = desk.work(where, task, () => false);
  return answer.kind === "draft" || answer.kind === "dispatch-draft" ? answer.draft : answer;
}

function planned(...asked: Parameters<typeof solve>): PlanDraft {
  const draft = solve(...asked);
  if (draft.kind !== "Plan" || draft.policy.kind !== "cascade") throw new Error(JSON.stringify(draft).slice(0, 400));
  return draft as PlanDraft;
}

function replicaOf(model: string) {
  const [card, gpu] = [modelCard(model), gpuCard("h100-sxm")];
  const [smallest] = card === undefined || gpu === undefined ? [] : feasibleReplicas(card, gpu, { gpusPerNode: 8, maxGpus: 8 });
  if (smallest === undefined) throw new Error(`no replica of ${model}`);
  return smallest.replica;
}

describe("a plan of cascade routing", () => {
  it("names its router and trade-off, keeps the floor at its lower bound, and is sealed and read back as it is", () => {
    const draft = planned("cascade-routing");
    expect(draft.policy.directStart?.router).toEqual({ kind: "trained", predictor: artefact });
    expect(draft.inputs.directStart).toEqual({ predictor: artefact });
    expect(draft.policy.cascadeRouting?.pointsPerGpuSecond).toBeGreaterThan(0);
    expect(draft.predictions.qualityBand.low).toBeGreaterThanOrEqual(66);
    expect(draft.solver.alternatives).toEqual([]);
    expect(draft.predictions.notes.filter((note) => note.startsWith("Cascade routing:"))).toHaveLength(1);
    const sealed = sealPlan(draft, new Date(0));
    expect(planSchema.parse(JSON.parse(JSON.stringify(sealed))).policy).toEqual(draft.policy);
  });

  it("predicts the shares and the quality that its policy has on the planning prompts", () => {
    const { policy, predictions } = planned("cascade-routing");
    const { outcomes } = scored.workload;
    const rows = splitPrompts(outcomes.promptIds.length, workload.seed).planning;
    const models = policy.stages.map(({ model }) => model);
    const outcome = simulateCluster({
      policy: buildPolicy(policy),
      replicas: models.map((model) => ({ id: model, model, maxInFlight: 64, replica: replicaOf(model) })),
      sample: { arrivalSeconds: Float64Array.from(rows, (_, at) => 1000 * at), prompt: rows },
      outcomes,
      judgeSeconds: 0.1,
    });
    const quality = outcome.quality.reduce((sum, own) => sum + own, 0) / rows.length;
    expect(quality).toBeCloseTo(predictions.quality, 6);
    expect(outcome.stages.map(({ share }) => share)).toEqual(predictions.stages.map(({ share }) => expect.closeTo(share, 9)));
  });

  it("buys no less quality the lower its floor's price: a higher floor is kept too, or refused in a sentence", () => {
    for (const qualityFloor of [60, 70])
      expect(planned("cascade-routing", { qualityFloor }).predictions.qualityBand.low).toBeGreaterThanOrEqual(qualityFloor);
    const refused = solve("cascade-routing", { qualityFloor: 99.9 });
    expect(refused).toMatchObject({ kind: "infeasible", answer: { reason: expect.stringContaining("under the floor of 99.9") } });
  });

  it("keeps the limit of a slack, counted from its fastest plan", () => {
    const fastest = planned("cascade-routing");
    const draft = planned("cascade-routing", { slack: 0.5 });
    expect(draft.predictions.p95Seconds).toBeLessThanOrEqual(1.5 * fastest.predictions.p95Seconds + 1e-9);
    expect(draft.predictions.qualityBand.low).toBeGreaterThanOrEqual(fastest.predictions.qualityBand.low - 1e-9);
  });

  it("is recommended among all kinds of policies exactly where its own simulation is the best", () => {
    const any = solve("any");
    if (any.kind !== "Plan") throw new Error(JSON.stringify(any).slice(0, 400));
    const kinds = any.solver.policies ?? [];
    expect(kinds.map(({ policy }) => policy)).toEqual(["cascade", "cascade-routing", "one-model", "slack"]);
    const seconds = kinds.map(({ p95Seconds }) => p95Seconds ?? Number.POSITIVE_INFINITY);
    expect(any.predictions.p95Seconds).toBe(Math.min(...seconds));
    expect(kinds[1]?.p95Seconds).toBe(planned("cascade-routing").predictions.p95Seconds);
  });

  it("is planned with every gate that the workload allows, compared as cascades are, and is the baseline of a cascade with one of them", () => {
    const any = solve("any", {}, gated);
    if (any.kind !== "Plan") throw new Error(JSON.stringify(any).slice(0, 400));
    const secondsOf = (kind: string) => any.solver.policies?.find(({ policy }) => policy === kind)?.p95Seconds;
    const [cascade, own] = [planned("cascade", {}, gated), planned("cascade-routing", {}, gated)];
    expect(secondsOf("cascade")).toBe(cascade.predictions.p95Seconds);
    expect(secondsOf("cascade-routing")).toBe(own.predictions.p95Seconds);
    for (const { solver, predictions } of [cascade, own]) {
      expect(solver.comparedGates?.map(({ kind }) => kind)).toEqual(gateKinds);
      const keeping = (solver.comparedGates ?? []).flatMap(({ p95Seconds }) => p95Seconds ?? []);
      expect(predictions.p95Seconds).toBe(Math.min(...keeping));
    }
    const task = { kind: "examine", examine: "baselines", objective, fixed: null, gateChoice: "confidence" } as const;
    const answer = desk.work(gated, task, () => false);
    if (answer.kind !== "examination" || answer.examination.kind !== "baselines") throw new Error(JSON.stringify(answer).slice(0, 400));
    const baseline = answer.examination.systems.find(({ policy }) => policy === "cascade-routing");
    expect(baseline?.latencySeconds).toBe(planned("cascade-routing", {}, gated, "confidence").predictions.p95Seconds);
  });

  it.each(gateKinds)(
    "with the gate %s keeps the floor, names that gate and reads its scores, and predicts what its policy does",
    (kind) => {
      const draft = planned("cascade-routing", {}, gated, kind);
      const { policy, predictions } = draft;
      expect(predictions.qualityBand.low).toBeGreaterThanOrEqual(66);
      expect(policySchema.parse(policy)).toEqual(policy);
      const fitted = policy.cascadeRouting?.gates.flatMap((gate) => (gate === null ? [] : [gate.kind])) ?? [];
      expect(new Set(fitted)).toEqual(new Set(fitted.length === 0 ? [] : [kind === "judge" ? undefined : kind]));
      expect(policy.gates?.map((gate) => gate.kind)).toEqual(kind === "judge" ? undefined : policy.thresholds.map(() => kind));
      const gates = stageGatesOf(gated.workload, gatesByModel(policy));
      if (isRefused(gates)) throw new Error(gates.kind);
      const rows = splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning;
      const outcome = simulateCluster({
        policy: buildPolicy(policy),
        replicas: policy.stages.map(({ model }) => ({ id: model, model, maxInFlight: 64, replica: replicaOf(model) })),
        sample: { arrivalSeconds: Float64Array.from(rows, (_, at) => 1000 * at), prompt: rows },
        ...{ outcomes: gated.workload.outcomes, judgeSeconds: 0.1 },
        ...(policy.gates === undefined ? {} : { gates }),
      });
      const quality = outcome.quality.reduce((sum, one) => sum + one, 0) / rows.length;
      expect(quality).toBeCloseTo(predictions.quality, 6);
      expect(outcome.stages.map(({ share }) => share)).toEqual(predictions.stages.map(({ share }) => expect.closeTo(share, 9)));
    },
  );

  it("stands among the baselines of a cascade with the figures that its own plan would have", () => {
    const task = { kind: "examine", examine: "baselines", objective, fixed: null } as const;
    const answer = desk.work(scored, task, () => false);
    if (answer.kind !== "examination" || answer.examination.kind !== "baselines") throw new Error(answer.kind);
    const own = answer.examination.systems.find(({ policy }) => policy === "cascade-routing");
    const { predictions } = planned("cascade-routing");
    expect(own).toMatchObject({ attainable: true, quality: predictions.quality, latencySeconds: predictions.p95Seconds });
  });

  it("is refused in a sentence without a router, and its prices are not examined", () => {
    const refused = solve("cascade-routing", {}, plain);
    expect(refused).toMatchObject({ kind: "infeasible", answer: { reason: expect.stringContaining("train a predictor of confidence") } });
    const task = { kind: "examine", examine: "prices", objective, fixed: null, policy: "cascade-routing" } as const;
    expect(desk.work(scored, task, () => false)).toMatchObject({ kind: "infeasible" });
  });
});
