import { describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { stageTables } from "@/solver/cascade/choose/allocate";
import { choose } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import { DEFAULT_JUDGE, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { lateBursts } from "@/solver/cascade/testing/testSample";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { modelCards } from "@/solver/hardware/models";
import type { MilpResult } from "@/solver/milp/engine";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Objective } from "@/solver/plan/plan";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { loadGlpkEngine } from "./glpkEngine";
import { Cancelled, createPlanningDesk, type PlanningDesk } from "./planningDesk";

const situation: PlanningSituation = {
  workload: shortWorkload({ prompts: 400, seed: 5 }),
  workloadId: "made-up",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: 10,
};
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 66,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 16,
};
const explore = { kind: "explore" } as const;

const newDesk = async () => createPlanningDesk(await loadGlpkEngine(), () => 0);

describe("createPlanningDesk", () => {
  it("never answers from a search that was cut short", async () => {
    const untouched = (await newDesk()).work(situation, explore, () => false);
    const desk = await newDesk();
    for (const patience of [0, 1, 40, 200]) {
      let asked = 0;
      const cancelled = () => {
        asked += 1;
        return asked > patience;
      };
      expect(() => desk.work(situation, explore, cancelled)).toThrow(Cancelled);
    }
    expect(desk.work(situation, explore, () => false)).toEqual(untouched);
  });

  it("answers the same situation again without searching again", async () => {
    const desk = await newDesk();
    const first = desk.work(situation, explore, () => false);
    let asked = 0;
    const again = desk.work(situation, explore, () => {
      asked += 1;
      return false;
    });
    expect(again).toEqual(first);
    expect(asked).toBeLessThan(5);
  });

  it("explores cascades without regard to the scores of a trained predictor", async () => {
    const desk = await newDesk();
    const { workload } = situation;
    const models = workload.outcomes.models.map((each, at) => ({ ...each, routerScore: each.label.map((_, row) => (row * 7 + at) % 101) }));
    const scored = { ...situation, workload: { ...workload, outcomes: { ...workload.outcomes, models } }, confidence: { artefact: "h" } };
    const explored = desk.work(scored, explore, () => false);
    expect(explored).toEqual((await newDesk()).work(situation, explore, () => false));
    let asked = 0;
    const shared = desk.work(situation, explore, () => {
      asked += 1;
      return false;
    });
    expect([shared, asked < 5]).toEqual([explored, true]);
  });

  it("promises no less than a stage takes where nearly all answers are of one length and a few far longer", async () => {
    const { outcomes } = situation.workload;
    const alike = {
      ...outcomes,
      inputTokens: outcomes.inputTokens.map(() => 50),
      models: outcomes.models.map((each) => ({
        ...each,
        outputTokens: each.outputTokens.map((_, prompt) => (prompt % 50 === 3 ? 4000 : 20)),
      })),
    };
    const asked = { ...situation, workload: { ...situation.workload, outcomes: alike }, workloadId: "alike", requestsPerSecond: 1 };
    const answer = (await newDesk()).work(asked, explore, () => false);
    if (answer.kind !== "exploration") throw new Error(answer.kind);
    const exploration = decodeExploration(answer.exploration);
    const choice = choose(exploration, { ...objective, qualityFloor: 50, maxGpus: 8 });
    const served = choice.candidates.filter(({ latencySeconds }) => latencySeconds < Number.POSITIVE_INFINITY);
    expect(served.length).toBeGreaterThan(10);
    for (const { routing, gpus, latencySeconds } of served) {
      const [first = 0] = stageTables(exploration, routing).map((table, stage) => table[(gpus[stage] ?? 1) - 1] ?? 0);
      expect(latencySeconds).toBeGreaterThan(0.5 * first);
    }
    expect(choice.binds).not.toContain("0.00 s");
  });

  it("plans with the engine profile it is given, records it in the plan, and does not mix up situations whose profiles differ", async () => {
    const desk = await newDesk();
    const slow = { ...vllmProfile, id: "slow", name: "slow engines", coefficients: { ...vllmProfile.coefficients, stepSeconds: 0.02 } };
    const solve = { kind: "solve", objective: { ...objective, qualityFloor: 40, maxGpus: 8 }, fixed: null } as const;
    const planWith = (engineProfile: PlanningSituation["engineProfile"]) => {
      const answer = desk.work({ ...situation, ...(engineProfile === undefined ? {} : { engineProfile }) }, solve, () => false);
      if (answer.kind !== "draft") throw new Error(`no plan but an ${answer.kind}`);
      return answer.draft;
    };
    const [usual, slowed, named] = [planWith(undefined), planWith(slow), planWith(vllmProfile)];
    expect(slowed.predictions.p95Seconds).toBeGreaterThan(1.3 * usual.predictions.p95Seconds);
    expect(slowed.inputs.engineProfile).toEqual(slow);
    expect(slowed.predictions.notes.join()).toContain('"slow engines"');
    expect(named.predictions.p95Seconds).toBe(usual.predictions.p95Seconds);
  });

  it("plans with the limits that engines were started with, says how each is known, and does not mix up situations whose limits differ", async () => {
    const desk = await newDesk();
    const fixed = { models: ["qwen2.5-7b"], thresholds: [] };
    const solve = { kind: "solve", objective: { ...objective, qualityFloor: 1, maxGpus: 8 }, fixed } as const;
    const planWith = (engineLimits?: ClusterSpec["engineLimits"]) => {
      const cluster = { ...situation.cluster, ...(engineLimits === undefined ? {} : { engineLimits }) };
      const answer = desk.work({ ...situation, cluster, models: ["qwen2.5-7b"] }, solve, () => false);
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      return answer.draft;
    };
    const [usual, limited, again] = [planWith(), planWith([{ model: "qwen2.5-7b", maxSequences: 4, source: "engine" }]), planWith()];
    expect(limited.predictions.utilisation).toBeGreaterThan(1.5 * usual.predictions.utilisation);
    expect(again.predictions.utilisation).toBe(usual.predictions.utilisation);
    expect(limited.inputs.cluster.engineLimits).toEqual([{ model: "qwen2.5-7b", maxSequences: 4, source: "engine" }]);
    expect(limited.deployment[0]?.replicas[0]?.maxInFlight).toBe(8);
    const said = "Engines of qwen2.5-7b run 4 (as the engine says) requests at once, with 8192 (assumed) tokens a step.";
    expect(limited.predictions.notes).toContain(said);
  });

  it("plans with the user's own cards, records them in the plan, and does not mix up situations whose cards differ", async () => {
    const desk = await newDesk();
    const { paramsB: _, provenance, ...shipped } = modelCards["qwen2.5-7b"] as ModelCard;
    const own = { ...shipped, kvBytesPerValue: 2 as const, id: "our-model", source: provenance.source };
    const { outcomes } = situation.workload;
    const largest = outcomes.models.length - 1;
    const models = outcomes.models.map((each, rank) => (rank === largest ? { ...each, model: own.id } : each));
    const ours = { ...situation, workload: { ...situation.workload, outcomes: { ...outcomes, models } }, workloadId: "ours" };
    const planWith = (maxContextTokens: number, layers: number) => {
      const architecture = { ...own.architecture, layers };
      const userCards = { models: [{ ...own, maxContextTokens, architecture }], gpus: [], prices: {} };
      const fixed = { models: [own.id], thresholds: [] };
      const answer = desk.work({ ...ours, userCards }, { kind: "solve", objective: { ...objective, qualityFloor: 1 }, fixed }, () => false);
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      return { draft: answer.draft, userCards };
    };
    const shallow = planWith(32768, 28);
    expect(shallow.draft.inputs.userCards).toEqual(shallow.userCards);
    expect(planWith(32768, 56).draft.predictions.p95Seconds).toBeGreaterThan(1.2 * shallow.draft.predictions.p95Seconds);
  });

  it("records the engine profile it planned with, and widens every band by its error", async () => {
    const desk = await newDesk();
    const draftWith = (engineProfile: EngineProfile) => {
      const answer = desk.work({ ...situation, engineProfile }, { kind: "solve", objective, fixed: null }, () => false);
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      return answer.draft;
    };
    const off = (p90Absolute: number) => ({ rows: 60, meanAbsolute: p90Absolute / 3, p90Absolute, bias: 0 });
    const known = (p90: number): EngineProfile => ({ ...vllmProfile, errors: { ttft: off(2 * p90), tpot: off(p90), endToEnd: off(p90) } });
    const [none, narrow, wide] = [{ ...vllmProfile, errors: null }, known(0.05), known(0.2)].map(draftWith);
    expect(wide?.inputs.engineProfile).toEqual(known(0.2));
    const widths = [none, narrow, wide].map((draft) => {
      const { p95Band, p95Seconds, stages } = draft?.predictions ?? {};
      const bands = [
        { value: p95Seconds, ...p95Band },
        ...(stages ?? []).map((stage) => ({ value: stage.p95Seconds, ...stage.bands?.p95Seconds })),
      ];
      return bands.map(({ value = Number.NaN, low = Number.NaN, high = Number.NaN }) => {
        expect(low).toBeLessThanOrEqual(value);
        expect(high).toBeGreaterThanOrEqual(value);
        return high - low;
      });
    });
    for (const [index, width] of widths[1]?.entries() ?? []) {
      expect(width).toBeGreaterThan(widths[0]?.[index] ?? Number.NaN);
      expect(widths[2]?.[index]).toBeGreaterThan(width);
    }
    expect(none?.predictions.p95Band.basis).toContain("no error of the engine profile");
  });

  it("refuses as unstable what a profile that is far off cannot tell from stable", async () => {
    const desk = await newDesk();
    const off = { rows: 60, meanAbsolute: 0.99, p90Absolute: 2, bias: 0 };
    const engineProfile = { ...vllmProfile, errors: { ttft: off, tpot: off, endToEnd: off } };
    const answer = desk.work({ ...situation, engineProfile }, { kind: "solve", objective, fixed: null }, () => false);
    expect(answer).toMatchObject({
      kind: "infeasible",
      answer: { reason: expect.stringMatching(/^Unstable: .* of its predicted saturation rate/) },
    });
  });

  it("plans with the judge of the situation, and with the default where none is named", async () => {
    const desk = await newDesk();
    const judgeOf = (judge?: PlanningSituation["judge"]) => {
      const answer = desk.work(judge === undefined ? situation : { ...situation, judge }, explore, () => false);
      return answer.kind === "exploration" ? answer.exploration.judge : answer.kind;
    };
    const slow = { secondsPerCall: 2, usdPerCall: 0.001 };
    expect(judgeOf()).toMatchObject({ secondsPerCall: DEFAULT_JUDGE.secondsPerCall, usdPerCall: 0 });
    expect(judgeOf({ kind: "fixed", ...slow })).toMatchObject(slow);
    expect(judgeOf()).toMatchObject({ secondsPerCall: DEFAULT_JUDGE.secondsPerCall, usdPerCall: 0 });
  });

  it("gives no lower a rate a longer latency where slow bursts come late in the trace, and its tables see them", {
    timeout: 30_000,
  }, async () => {
    const workload = { ...shortWorkload({ prompts: 400, seed: 5 }), arrivalSeconds: lateBursts(12_000, 4) };
    const nodes = [1, 2].map((node) => ({ name: `node${node}`, gpus: 8 }));
    let before = 0;
    for (const requestsPerSecond of [32, 40, 48]) {
      const asked = { ...situation, workload, workloadId: "late", cluster: { ...situation.cluster, nodes }, requestsPerSecond };
      const answer = (await newDesk()).work(asked, { kind: "solve", objective, fixed: null }, () => false);
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      const { p95Seconds, tableError } = answer.draft.predictions;
      // Tables choose and simulations predict: their remaining difference may show.
      expect(p95Seconds).toBeGreaterThan(0.97 * before);
      expect(Math.abs(tableError)).toBeLessThan(0.12);
      before = p95Seconds;
    }
  });

  it("calls an allocation optimal only when the MILP proved it, and gives the gap where the MILP tells a bound", () => {
    const reportWith = (result: MilpResult) => {
      const desk = createPlanningDesk({ name: "stub", solve: () => result }, () => 0);
      const answer = desk.work(situation, { kind: "solve", objective: { ...objective, maxGpus: 8 }, fixed: null }, () => false);
      return answer.kind === "draft" ? answer.draft.solver : answer;
    };
    expect(reportWith({ status: "undecided" })).toMatchObject({ status: "feasible", gap: null });
    const bounded = reportWith({ status: "feasible", objective: 9, bound: 0, x: new Float64Array() });
    expect(bounded).toMatchObject({ status: "feasible", gap: 1, engine: expect.stringContaining("ran out of time") });
    expect(() => reportWith({ status: "infeasible" })).toThrow("disagree");
  });

  it("plans the same whatever was asked before", { timeout: 30_000 }, async () => {
    const solve = (desk: PlanningDesk, change: Partial<Objective>, fixed: SolveRequest["fixed"] = null) => {
      const answer = desk.work(situation, { kind: "solve", objective: { ...objective, maxGpus: 8, ...change }, fixed }, () => false);
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      const { seconds, replicaSimulations, ...solver } = answer.draft.solver;
      return { ...answer.draft, solver };
    };
    const used = await newDesk();
    const [small = "", , large = ""] = situation.workload.outcomes.models.map(({ model }) => model);
    solve(used, { qualityFloor: 40 }, { models: [small, large], thresholds: [33] });
    for (const qualityFloor of [45, 55, 60, 64]) solve(used, { qualityFloor });
    solve(used, { kind: "quality-under-latency", qualityFloor: null, latencyBudgetSeconds: 8 });
    expect(solve(used, { qualityFloor: 58 })).toEqual(solve(await newDesk(), { qualityFloor: 58 }));
    expect(used.work(situation, explore, () => false)).toEqual((await newDesk()).work(situation, explore, () => false));
  });
});
