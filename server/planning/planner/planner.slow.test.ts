import { afterAll, describe, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { PlanningProgress } from "@/server/contracts/studio";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { choose } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import { gpuCard } from "@/solver/hardware/gpus";
import { memoryFit } from "@/solver/hardware/memoryFit";
import { modelCard } from "@/solver/hardware/models";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Objective, Plan } from "@/solver/plan/plan";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { createPlanner } from "./planner";
import type { Resolved } from "./planningRequest";

const workload = shortWorkload({ prompts: 600, seed: 3 });
const workloadId = workloadHash(workload);

const cluster = (nodes: number, gpus: number, gpu = "h100-sxm"): ClusterSpec => ({
  id: "test",
  name: "test",
  kind: "described",
  gpu,
  nodes: Array.from({ length: nodes }, (_, index) => ({ name: `node${index + 1}`, gpus })),
  usdPerGpuHour: 3,
});

const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 60,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 16,
};

const request = (change: Partial<Resolved<SolveRequest>> = {}): Resolved<SolveRequest> => ({
  workload,
  workloadId,
  cluster: cluster(2, 8),
  requestsPerSecond: 40,
  objective,
  fixed: null,
  ...change,
});

const planner = createPlanner();
afterAll(() => planner.close());

it("plans the same when it was warmed up first", async () => {
  const warmed = createPlanner({ warm: true });
  const answer = await warmed.solve(request());
  await warmed.close();
  expect(answer.outcome === "plan" && answer.plan.id).toBe((await planFor()).id);
});

async function planFor(change: Partial<Resolved<SolveRequest>> = {}): Promise<Plan> {
  const answer = await planner.solve(request(change));
  if (answer.outcome !== "plan") throw new Error(answer.reason);
  return answer.plan;
}

/** Properties of every plan, whatever the request. */
function expectDeployable(plan: Plan): void {
  const used = new Set<string>();
  for (const { model, gpus, gpu, replicas } of plan.deployment) {
    let counted = 0;
    let shares = 0;
    for (const { tp, pp, count, shareEach, placements } of replicas) {
      expect(memoryFit(modelCard(model)!, gpuCard(gpu)!, { tp, pp }).fits).toBe(true);
      expect(placements).toHaveLength(count);
      shares += count * shareEach;
      for (const { node, gpus: own } of placements.flat()) {
        expect(own.length % tp).toBe(0);
        for (const index of own) {
          expect(used.has(`${node}/${index}`)).toBe(false);
          used.add(`${node}/${index}`);
          counted += 1;
        }
      }
    }
    expect(shares).toBeCloseTo(1, 9);
    expect(counted).toBe(gpus);
  }
  expect(used.size).toBeLessThanOrEqual(plan.inputs.objective.maxGpus);
  expect(buildPolicy(plan.policy).kind).toBe("cascade");
}

describe("createPlanner", { timeout: 60_000 }, () => {
  it("finds a plan that keeps the floor for the lower bound, fits the nodes, and says how it was found", async () => {
    const plan = await planFor();
    expectDeployable(plan);
    expect(plan.predictions.qualityBand.low).toBeGreaterThanOrEqual(60);
    expect(plan.solver).toMatchObject({ status: "optimal", gap: 0 });
    expect(plan.solver.engine).toContain("glpk");
    expect(plan.solver.alternatives.length).toBeGreaterThan(0);
    expect(plan.predictions.p95Band.low).toBeLessThanOrEqual(plan.predictions.p95Seconds);
    expect(plan.predictions.stages[0]?.share).toBe(1);
  });

  it("finds the same plan for the same question", async () => {
    const [first, second] = [await planFor(), await planFor()];
    expect(second.id).toBe(first.id);
    expect(second.predictions).toEqual(first.predictions);
  });

  it("keeps a latency budget in the whole simulation, not only by the tables", async () => {
    const budget: Objective = { ...objective, kind: "quality-under-latency", qualityFloor: null, latencyBudgetSeconds: 6 };
    const plan = await planFor({ objective: budget });
    expectDeployable(plan);
    expect(plan.predictions.p95Seconds).toBeLessThanOrEqual(6);
  });

  it("explores for the browser: a choice from what travelled promises what the plan's tables do", async () => {
    const answer = await planner.explore(request());
    if (!answer.ok) throw new Error(answer.message);
    const exploration = decodeExploration(JSON.parse(JSON.stringify(answer.exploration)));
    const { chosen } = choose(exploration, objective);
    expect(chosen?.qualityLow).toBeGreaterThanOrEqual(60);
    expect(exploration.maxGpus).toBe(16);
  });

  it("plans thresholds set by hand as they are, and notes a floor they miss", async () => {
    const [small = "", , large = ""] = workload.outcomes.models.map(({ model }) => model);
    const plan = await planFor({
      requestsPerSecond: 10,
      fixed: { models: [small, large], thresholds: [20] },
      objective: { ...objective, qualityFloor: 90 },
    });
    expectDeployable(plan);
    expect(plan.policy).toMatchObject({ stages: [{ model: small }, { model: large }], thresholds: [20] });
    expect(plan.predictions.notes.join(" ")).toContain("miss the quality floor of 90");
  });

  it("refuses thresholds set by hand as unstable that send a stage more than the GPUs carry", async () => {
    const [small = "", , large = ""] = workload.outcomes.models.map(({ model }) => model);
    const answer = await planner.solve(request({ fixed: { models: [small, large], thresholds: [100] }, requestsPerSecond: 400 }));
    expect(answer).toMatchObject({
      outcome: "infeasible",
      reason: expect.stringMatching(/is overloaded at 400 requests\/s on 16 GPUs at these thresholds/),
    });
  });

  it("refuses thresholds set by hand that make no cascade, in a sentence", async () => {
    const [small = "", , large = ""] = workload.outcomes.models.map(({ model }) => model);
    const refused = async (fixed: SolveRequest["fixed"]) => {
      const answer = await planner.solve(request({ fixed }));
      return answer.outcome === "infeasible" ? answer.reason : answer.outcome;
    };
    expect(await refused({ models: ["gpt-5"], thresholds: [] })).toContain("gpt-5 is not among the models to plan with");
    expect(await refused({ models: [large, small], thresholds: [50] })).toContain("from the smaller to the larger");
    expect(await refused({ models: [small, large], thresholds: [] })).toContain("needs 1 threshold");
  });

  it("says the best quality within reach for a floor that no thresholds reach", async () => {
    const answer = await planner.solve(request({ objective: { ...objective, qualityFloor: 99 } }));
    expect(answer).toMatchObject({ outcome: "infeasible" });
    if (answer.outcome === "infeasible") {
      expect(answer.reason).toContain("floor of 99");
      expect(answer.bestQuality).toBeGreaterThan(50);
    }
  });

  it("says how many GPUs the smallest model needs where there are fewer", async () => {
    const large = workload.outcomes.models.map(({ model }) => model).slice(-1);
    const answer = await planner.solve(request({ cluster: cluster(1, 1, "l40s"), models: large }));
    expect(answer).toMatchObject({
      outcome: "infeasible",
      reason: expect.stringMatching(/needs \d+ of these GPUs for one replica; there is 1 GPU/),
    });
  });

  it("tells what it is at on the way: within a phase the count never falls, and nothing is told after the answer", async () => {
    const told: PlanningProgress[] = [];
    const answer = await planner.solve(request({ requestsPerSecond: 43 }), { onProgress: (progress) => told.push(progress) });
    const toldBefore = told.length;
    expect(answer.outcome).toBe("plan");
    expect(told[0]?.phase).toBe("searching");
    for (const [index, { phase, done }] of told.entries())
      expect(done).toBeGreaterThanOrEqual(
        Math.max(0, ...told.slice(0, index).map((earlier) => (earlier.phase === phase ? earlier.done : 0))),
      );
    await planner.explore(request());
    expect(told).toHaveLength(toldBefore);
  });

  it("answers a question about a plan, and refuses one about a plan that there is not", async () => {
    const prices = await planner.examine({ ...request(), examine: "prices" });
    expect(prices).toMatchObject({ ok: true, examination: { kind: "prices", qualityFloor: 60 } });
    const none = await planner.examine({ ...request({ objective: { ...objective, qualityFloor: 99 } }), examine: "prices" });
    expect(none).toMatchObject({ ok: false, message: expect.stringContaining("floor of 99") });
  });

  it("drops a request whose signal aborts, and goes on with the next", async () => {
    const impatient = new AbortController();
    const dropped = planner.solve(request({ requestsPerSecond: 41 }), { signal: impatient.signal });
    impatient.abort(new Error("nobody waits"));
    await expect(dropped).rejects.toThrow("nobody waits");
    expect((await planFor({ requestsPerSecond: 41 })).deployment.length).toBeGreaterThan(0);
  });

  it("reports a failure of the worker as an error and answers the next request", async () => {
    const broken = { ...workload, arrivalSeconds: new Float64Array() };
    await expect(planner.solve(request({ workload: broken, workloadId: "broken" }))).rejects.toThrow("Planning failed");
    expect((await planner.explore(request())).ok).toBe(true);
  });

  it("rejects what is still asked when it is closed", async () => {
    const closing = createPlanner();
    const rejected = expect(closing.explore(request())).rejects.toThrow("closed");
    await closing.close();
    await rejected;
  });
});
