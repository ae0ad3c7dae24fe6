import { beforeAll, describe, expect, it } from "vitest";
import type { PlanningProgress } from "@/server/contracts/studio";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { MilpEngine } from "@/solver/milp/engine";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { loadGlpkEngine } from "./glpkEngine";
import { Cancelled, createPlanningDesk } from "./planningDesk";
import type { PlanningAnswer, PlanningTask } from "./planningRequest";

const workload = shortWorkload({ prompts: 400, seed: 2 });
const situation: PlanningSituation = {
  workload,
  workloadId: "told",
  cluster: { id: "test", name: "test", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 8 }], usdPerGpuHour: 3 },
  requestsPerSecond: 30,
};
const solve: PlanningTask = {
  kind: "solve",
  objective: {
    kind: "latency-under-quality",
    latency: "end-to-end",
    percentile: 95,
    qualityFloor: 55,
    qualityConfidence: 0.9,
    latencyBudgetSeconds: null,
    maxGpus: 8,
  },
  fixed: null,
};

/** Plans until `leave` returns true, and returns the reports, and the number of MILPs solved after that. */
async function planUntil(leave: (at: PlanningProgress) => boolean) {
  const glpk = await loadGlpkEngine();
  let gone = false;
  let solvedAfter = 0;
  const engine: MilpEngine = {
    name: glpk.name,
    solve(model, limits) {
      if (gone) solvedAfter += 1;
      return glpk.solve(model, limits);
    },
  };
  const told: PlanningProgress[] = [];
  const desk = createPlanningDesk(engine, () => 0);
  const work = () =>
    desk.work(
      situation,
      solve,
      () => gone,
      (at) => {
        told.push(at);
        gone = leave(at);
      },
    );
  return { desk, work, told, solvedAfter: () => solvedAfter };
}

describe("progress of planning", { timeout: 60_000 }, () => {
  let undisturbed: PlanningAnswer;
  beforeAll(async () => {
    undisturbed = (await planUntil(() => false)).work();
  });

  it("goes from searching over alternating to deploying and simulating, no count falling", async () => {
    const { desk, work, told } = await planUntil(() => false);
    expect(work().kind).toBe("draft");
    expect([...new Set(told.map(({ phase }) => phase))]).toEqual(["searching", "alternating", "deploying", "simulating"]);
    told.length = 0;
    const constraints = planConstraintsSchema.parse({ minReplicasPerModel: 2 });
    const tell = (at: PlanningProgress) => told.push(at);
    expect(desk.work({ ...situation, constraints }, solve, () => false, tell).kind).toBe("draft");
    expect(told.filter(({ phase }) => phase === "deploying").length).toBeGreaterThan(2);
    for (const phase of ["searching", "alternating", "deploying", "simulating"]) {
      const counts = told.filter((at) => at.phase === phase).map(({ done }) => done);
      expect(counts).toEqual([...counts].sort((a, b) => a - b));
    }
  });

  it.each(["searching", "alternating", "deploying", "simulating"] as const)("ends within a step of being left while %s", async (phase) => {
    const { work, told, desk, solvedAfter } = await planUntil((at) => at.phase === phase);
    expect(work).toThrow(Cancelled);
    const left = told.findIndex((at) => at.phase === phase);
    expect(told.length - left).toBe(1);
    expect(solvedAfter()).toBe(0);
    // An incomplete search is not taken for a complete one.
    expect(desk.work(situation, solve, () => false)).toEqual(undisturbed);
  });
});
