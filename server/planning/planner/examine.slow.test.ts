import { beforeAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { Examination, ExaminedKind, PlanningProgress } from "@/server/contracts/studio";
import { countOfBaselines } from "@/solver/baselines/allBaselines";
import { replicaRules } from "@/solver/baselines/betterBaseline";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import type { Objective, PlanDraft } from "@/solver/plan/plan";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";

const workload = shortWorkload({ prompts: 500, seed: 3 });
const situation: PlanningSituation = {
  workload,
  workloadId: "examined",
  cluster: {
    id: "test",
    name: "test",
    kind: "described",
    gpu: "h100-sxm",
    nodes: [1, 2].map((node) => ({ name: `node${node}`, gpus: 4 })),
    usdPerGpuHour: 3,
  },
  requestsPerSecond: 40,
};
/** Every baseline, and the plan itself. */
const systemsBeside = countOfBaselines(workload.outcomes.models.length) + 1;
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 58,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 8,
};

describe("examine", { timeout: 120_000 }, () => {
  let desk: PlanningDesk;
  let plan: PlanDraft;
  beforeAll(async () => {
    desk = createPlanningDesk(await loadGlpkEngine(), () => performance.now() / 1000);
    const answer = desk.work(situation, { kind: "solve", objective, fixed: null }, () => false);
    if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
    plan = answer.draft;
  });

  function examined<Kind extends ExaminedKind>(
    kind: Kind,
    {
      fixed = null,
      told = () => undefined,
      change = {},
    }: { fixed?: SolveRequest["fixed"]; told?: (at: PlanningProgress) => void; change?: Partial<PlanningSituation> } = {},
  ): Extract<Examination, { kind: Kind }> {
    const answer = desk.work({ ...situation, ...change }, { kind: "examine", examine: kind, objective, fixed }, () => false, told);
    if (answer.kind !== "examination" || answer.examination.kind !== kind) throw new Error(JSON.stringify(answer));
    return answer.examination as Extract<Examination, { kind: Kind }>;
  }

  /** The baselines of the plan, and the progress that was told of them, after a question about the same plan. */
  let baselines: { readonly examination: Extract<Examination, { kind: "baselines" }>; readonly told: readonly PlanningProgress[] } | null =
    null;
  function examinedBaselines() {
    if (baselines !== null) return baselines;
    const told: PlanningProgress[] = [];
    examined("prices");
    const examination = examined("baselines", { told: (at) => told.push(at) });
    baselines = { examination, told };
    return baselines;
  }

  it("plans a baseline's thresholds with its replicas as constraints: on those replicas, at its latency", () => {
    const { systems } = examinedBaselines().examination;
    const planned = systems.flatMap((system) => {
      const { routing, deployed, latencySeconds, policy } = system;
      const rules = policy === undefined && routing !== null && latencySeconds !== null ? replicaRules(deployed) : null;
      if (rules === null || routing === null || routing.startBelow !== undefined || latencySeconds === null) return [];
      const constraints = planConstraintsSchema.parse({
        pinned: rules.map(({ model, count }) => ({ model, replicas: count })),
        shapes: rules.map(({ model, shape }) => ({ model, ...shape })),
      });
      const fixed = { models: [...routing.models], thresholds: [...routing.thresholds] };
      const free: Objective = { ...objective, qualityFloor: null };
      const answer = desk.work({ ...situation, constraints }, { kind: "solve", objective: free, fixed }, () => false);
      if (answer.kind !== "draft") throw new Error(`${system.name}: ${JSON.stringify(answer).slice(0, 300)}`);
      return [{ rules, latencySeconds, draft: answer.draft }];
    });
    expect(planned.length).toBeGreaterThanOrEqual(2);
    for (const { rules, latencySeconds, draft } of planned) {
      for (const { model, shape, count } of rules) {
        const replicas = draft.deployment.find((own) => own.model === model)?.replicas ?? [];
        expect(replicas.every(({ tp, pp }) => tp === shape.tp && pp === shape.pp)).toBe(true);
        expect(replicas.reduce((sum, own) => sum + own.count, 0)).toBeGreaterThanOrEqual(count);
      }
      expect(draft.predictions.p95Seconds).toBeLessThan(1.1 * latencySeconds);
    }
  });

  it("prices GPUs and points of quality: no latency rises with GPUs, none falls with the floor", () => {
    const { latencySeconds, gpus, quality, qualityFloor } = examined("prices");
    expect(latencySeconds).toBe(plan.predictions.p95Seconds);
    expect(qualityFloor).toBe(58);
    expect(gpus.map(({ gpu, more }) => [gpu, more])).toEqual([
      ["h100-sxm", 1],
      ["h100-sxm", 4],
    ]);
    const [one, node] = gpus.map((price) => price.latencySeconds ?? Number.NaN);
    expect(one).toBeLessThanOrEqual(1.01 * latencySeconds);
    expect(node).toBeLessThan(latencySeconds);
    expect(quality.map(({ points }) => points)).toEqual([-2, -1, 1, 2]);
    const seconds = quality.map((price) => price.latencySeconds ?? Number.POSITIVE_INFINITY);
    expect(seconds.slice(0, 2).every((value) => value <= 1.01 * latencySeconds)).toBe(true);
    expect(seconds.slice(2).every((value) => value >= 0.99 * latencySeconds)).toBe(true);
  });

  it("asks no other floor of thresholds set by hand", () => {
    const stages = plan.policy.stages.map(({ model }) => model);
    const { quality, gpus } = examined("prices", { fixed: { models: stages, thresholds: plan.policy.thresholds } });
    expect(quality).toEqual([]);
    expect(gpus).toHaveLength(2);
  });

  it("names the constraints that hold the plan back, and what each costs", () => {
    const asking = (constraints: object) => ({ change: { constraints: planConstraintsSchema.parse(constraints) } });
    const planned = (constraints: object, fixed: SolveRequest["fixed"]): PlanDraft => {
      const answer = desk.work({ ...situation, ...asking(constraints).change }, { kind: "solve", objective, fixed }, () => false);
      if (answer.kind !== "draft") throw new Error(answer.kind);
      return answer.draft;
    };
    // Both with all nodes present: the difference of the latencies is about that of the same thresholds without the constraint.
    for (const asked of [{ surviveNodeLoss: true }, { minReplicasPerModel: 4 }]) {
      const { policy } = planned(asked, null);
      const free = planned({}, { models: policy.stages.map(({ model }) => model), thresholds: policy.thresholds });
      const { latencySeconds, constraints, gpus } = examined("prices", asking(asked));
      expect(Math.abs((constraints[0]?.latencySeconds ?? latencySeconds) / free.predictions.p95Seconds - 1)).toBeLessThan(0.1);
      for (const price of gpus) expect(price.latencySeconds).toBeLessThanOrEqual(latencySeconds);
    }
    const split = examined("prices", asking({ nodes: [{ model: plan.policy.stages.at(-1)?.model, only: ["node1"] }] }));
    for (const { latencySeconds } of split.constraints) expect(latencySeconds).toBeLessThan(split.latencySeconds);
    const sensitivity = { kind: "examine", examine: "sensitivity", objective, fixed: null } as const;
    expect(desk.work({ ...situation, ...asking({ minReplicasPerModel: 1 }).change }, sensitivity, () => false)).toMatchObject({
      kind: "infeasible",
      answer: { reason: expect.stringContaining("constraints on replicas") },
    });
    const capped = examined("prices", asking({ maxGpus: 6 }));
    expect(capped.constraints.map(({ says }) => says)).toEqual(["at most 6 GPUs"]);
    expect(capped.constraints[0]?.latencySeconds).toBeLessThan(capped.latencySeconds);
  });

  it("prices every GPU type of a cluster, and refuses baselines there with the reason", () => {
    const nodes = [
      { name: "node1", gpus: 4 },
      { name: "node2", gpus: 4, gpu: "a100-sxm-80g" },
    ];
    const cluster = { ...situation.cluster, nodes, otherUsdPerGpuHour: { "a100-sxm-80g": 2 } };
    const { gpus } = examined("prices", { change: { cluster, requestsPerSecond: 20 } });
    expect(gpus.map(({ gpu, more }) => `${more} ${gpu}`)).toEqual(["1 h100-sxm", "4 h100-sxm", "1 a100-sxm-80g", "4 a100-sxm-80g"]);
    const task = { kind: "examine", examine: "baselines", objective, fixed: null } as const;
    expect(desk.work({ ...situation, cluster, requestsPerSecond: 20 }, task, () => false)).toMatchObject({
      kind: "infeasible",
      answer: { reason: expect.stringContaining("h100-sxm and a100-sxm-80g") },
    });
  });

  it("tells how the plan stands up to another rate and to a weaker judge", () => {
    const { cases } = examined("sensitivity");
    expect(cases.map(({ says }) => says)).toEqual([
      "20 % fewer requests",
      "20 % more requests",
      "a judge that scores 9 % lower and scatters by 11 points more",
    ]);
    const [fewer, more] = cases.map(({ kept }) => kept.latencySeconds ?? Number.POSITIVE_INFINITY);
    expect(fewer).toBeLessThan(plan.predictions.p95Seconds);
    expect(more).toBeGreaterThan(plan.predictions.p95Seconds);
    expect(cases[0]?.kept.quality).toBeCloseTo(plan.predictions.quality, 9);
    expect(cases[0]?.keeps).toBe(true);
  });

  it("puts the baselines beside the plan by the same simulation, and says why one cannot stand there", () => {
    const { systems, refused } = examinedBaselines().examination;
    expect(systems.length + refused.length).toBe(systemsBeside);
    expect(systems.map(({ name }) => name)).toContain("CascadeServe");
    for (const { gpus, quality, qualityLow, costUsdPerRequest } of systems) {
      expect(gpus).toBeLessThanOrEqual(objective.maxGpus);
      expect(qualityLow ?? quality).toBeGreaterThanOrEqual(58);
      expect(qualityLow ?? 0).toBeLessThanOrEqual(quality);
      expect(costUsdPerRequest).toBeCloseTo((gpus * 3) / 3600 / 40, 9);
    }
    for (const { reason } of refused) expect(reason).toMatch(/\.$/);
    const untrained = expect.stringContaining("No trained predictor of confidence is stored");
    expect(refused).toContainEqual({ name: "trained router", reason: untrained });
    // A plan of one model on the same GPUs is that model's stand-alone system, simulated in the same way.
    const stages = plan.policy.stages.map(({ model }) => model);
    const alone = systems.find(({ name }) => name === `stand-alone ${stages[0]}`);
    if (stages.length === 1) expect(alone?.latencySeconds).toBeCloseTo(plan.predictions.p95Seconds, 6);
  });

  it("leaves the uniform plans and the trained router out where requests may start at a later stage by a modelled one", () => {
    const answer = examined("baselines", { change: { directStart: { auc: 0.95 } } });
    expect(answer.refused.filter(({ reason }) => reason.includes("start requests at a later stage")).map(({ name }) => name)).toEqual([
      "uniform parallelism",
      "uniform allocation",
    ]);
    const modelled = expect.stringContaining("A modelled router decides");
    expect(answer.refused).toContainEqual({ name: "trained router", reason: modelled });
  });

  it("counts what it examines up to all of it, plans nothing again that was just planned, and stops when nobody waits", () => {
    const { told } = examinedBaselines();
    expect(new Set(told.map(({ phase }) => phase))).toEqual(new Set(["examining"]));
    const examining = told.map(({ done }) => done);
    expect(examining).toEqual([...examining].sort((a, b) => a - b));
    expect(examining.at(-1)).toBe(systemsBeside);
    let asked = 0;
    const leave = () => {
      asked += 1;
      return told.length > 0 && asked > 5;
    };
    expect(() => desk.work(situation, { kind: "examine", examine: "sensitivity", objective, fixed: null }, leave)).toThrow();
  });
});
