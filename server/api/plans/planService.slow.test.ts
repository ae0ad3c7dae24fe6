import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { ExamineRequest, SolveRequest } from "@/server/contracts/planRequest";
import type { ExamineEvent, SolveEvent } from "@/server/contracts/studio";
import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import { earlierPlanId } from "@/server/planning/planner/sealPlan";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { generatedWorkload } from "@/solver/workload/generated";
import { createPlanService, type PlanService } from "./planService";

describe("planning over the store", { timeout: 60_000 }, () => {
  let folder: string;
  let store: Store;
  let planner: Planner;
  let plans: PlanService;
  let request: SolveRequest;
  let asked = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-planning-"));
    store = openStore(folder);
    planner = createPlanner();
    const counting: Planner = {
      ...planner,
      examine(...asking) {
        asked += 1;
        return planner.examine(...asking);
      },
    };
    plans = createPlanService({
      store,
      clusterOf: () => null,
      planning: createPlanningService(store, counting, createCardStore(folder)),
    });
    const nodes = [{ name: "node1", gpus: 8 }];
    store.clusters.insert({ id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes, usdPerGpuHour: 3 }, new Date().toISOString());
    request = {
      workloadId: storeWorkload(store, generatedWorkload({ prompts: 400, seed: 4 })),
      clusterId: "c",
      requestsPerSecond: 20,
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
  });
  afterAll(async () => {
    await planner.close();
    store.close();
    rmSync(folder, { recursive: true });
  });

  const signal = () => new AbortController().signal;
  async function eventsOf<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
    const events: Event[] = [];
    for await (const event of stream) events.push(event);
    return events;
  }
  const examine = (examined: ExamineRequest): Promise<ExamineEvent[]> => eventsOf(plans.examine(examined, signal()));

  it("tells progress, then the plan, which can be looked at and kept from then on", async () => {
    const events: SolveEvent[] = await eventsOf(plans.solve(request, signal()));
    expect(events.slice(0, -1).every(({ kind }) => kind === "progress")).toBe(true);
    const last = events.at(-1);
    if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error(JSON.stringify(last));
    expect(plans.get(last.answer.plan.id)?.plan).toEqual(last.answer.plan);
    expect(last.answer.plan.solver.alternation?.iterations).toBeGreaterThan(0);
  });

  it("keeps with a plan what it was asked for last, where the same plan answers several questions", async () => {
    const ask = async (asked: SolveRequest) => {
      const last = (await eventsOf(plans.solve(asked, signal()))).at(-1);
      if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error(JSON.stringify(last));
      plans.keep(last.answer.plan.id, "someone");
      return last.answer.plan;
    };
    const first = await ask(request);
    const capped = { ...planConstraintsSchema.parse({}), maxUsdPerHour: 1000 };
    const second = await ask({ ...request, constraints: capped });
    expect(second.id).toBe(first.id);
    expect(store.plans.get(first.id)?.inputs.constraints?.maxUsdPerHour).toBe(1000);
    expect(store.audit.list(10).map(({ action, detail }) => `${action}: ${detail}`)).toContainEqual(
      expect.stringMatching(/^solve again: 20 requests\/s of .*, a floor of 55, at most 1000 USD\/hour$/),
    );
    // A plan in force keeps its promises until an approval for another question.
    store.clusters.setRunning("c", { planId: first.id, since: new Date().toISOString() });
    await ask(request);
    expect(store.plans.get(first.id)?.inputs.constraints?.maxUsdPerHour).toBe(1000);
    expect(plans.approve({ planId: first.id, clusterId: "c", hash: first.id, reason: "" }, "someone").ok).toBe(true);
    expect(store.plans.get(first.id)?.inputs.constraints).toBeUndefined();
    store.clusters.setRunning("c", null);
  });

  it("keeps the plans of two clusters of the same hardware apart, and approves one of them only", async () => {
    const spec = store.clusters.get("c")?.spec;
    if (spec === undefined) throw new Error("no cluster");
    store.clusters.insert({ ...spec, id: "d", name: "d" }, new Date().toISOString());
    const solvedFor = async (clusterId: string) => {
      const last = (await eventsOf(plans.solve({ ...request, clusterId }, signal()))).at(-1);
      if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error("no plan");
      plans.keep(last.answer.plan.id, "someone");
      return last.answer.plan;
    };
    const [here, there] = [await solvedFor("c"), await solvedFor("d")];
    expect(there).toMatchObject({ topologyHash: here.topologyHash, policyHash: here.policyHash });
    expect(plans.approve({ planId: there.id, clusterId: "d", hash: there.id, reason: "staging" }, "someone").ok).toBe(true);
    expect(plans.list("d")).toMatchObject([{ id: there.id, clusterId: "d", approvalReason: "staging" }]);
    expect(plans.list("c").find(({ id }) => id === here.id)).toMatchObject({ clusterId: "c" });
    expect([store.approvals.isApproved(there.id, "d"), store.approvals.isApproved(there.id, "c")]).toEqual([true, false]);

    // Documents that were sealed before ids covered the cluster may have one id for two clusters.
    const [earlier, other] = [here, there].map((plan) => ({ ...plan, id: earlierPlanId(plan) }));
    expect(plans.importDocument(earlier, "someone")).toEqual({ ok: true, id: earlier?.id });
    expect(plans.importDocument(other, "someone")).toMatchObject({ ok: false, message: expect.stringContaining("is kept for c already") });
    expect(store.plans.get(earlier?.id ?? "")?.inputs.cluster.id).toBe("c");
  });

  it("tells progress, then the exploration", async () => {
    const events = await eventsOf(plans.explore(request, signal()));
    expect(events.at(-1)).toMatchObject({ kind: "answer", answer: { ok: true } });
  });

  it("examines once: asked again the same, it answers at once with what was found", async () => {
    const first = await examine({ ...request, examine: "prices" });
    expect(first.at(-1)).toMatchObject({ kind: "answer", examination: { kind: "prices" } });
    expect(await examine({ ...request, examine: "prices" })).toEqual(first.slice(-1));
    expect(asked).toBe(1);
    await examine({ ...request, requestsPerSecond: 21, examine: "prices" });
    expect(asked).toBe(2);
  });

  it("refuses to examine what the store does not hold, or what no plan meets, in a sentence", async () => {
    expect(await examine({ ...request, clusterId: "none", examine: "prices" })).toEqual([
      { kind: "refused", message: "There is no cluster none." },
    ]);
    const impossible = { ...request, objective: { ...request.objective, qualityFloor: 100 } };
    const refused = (await examine({ ...impossible, examine: "sensitivity" })).at(-1);
    expect(refused).toMatchObject({ kind: "refused", message: expect.stringContaining("floor of 100") });
  });
});
