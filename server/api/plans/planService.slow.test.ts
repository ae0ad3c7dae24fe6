import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { approvalRefusal } from "@/server/clusters/apply/approvalRefusal";
import { earlierPlanIds } from "@/server/contracts/gateway/planHash";
import type { ExamineRequest, SolveRequest } from "@/server/contracts/planRequest";
import type { ExamineEvent, SolveEvent } from "@/server/contracts/studio";
import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import type { Plan } from "@/solver/plan/plan";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
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
      workloadId: storeWorkload(store, shortWorkload({ prompts: 400, seed: 4 })),
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

  const hashOf = (planId: string, clusterId: string): string => plans.get(planId)?.approvalHashes[clusterId] ?? "";
  const approve = (planId: string, clusterId: string, reason = "") =>
    plans.approve({ planId, clusterId, hash: hashOf(planId, clusterId), reason }, "someone");

  it("tells progress, then the plan, which can be looked at and kept from then on", async () => {
    const events: SolveEvent[] = await eventsOf(plans.solve(request, signal()));
    expect(events.slice(0, -1).every(({ kind }) => kind === "progress")).toBe(true);
    const last = events.at(-1);
    if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error(JSON.stringify(last));
    expect(plans.get(last.answer.plan.id)?.plan).toEqual(last.answer.plan);
    expect(last.answer.plan.solver.alternation?.iterations).toBeGreaterThan(0);
  });

  it("makes another plan of another question, whatever its deployment, and leaves the one that is in force as it was promised", async () => {
    const ask = async (asked: SolveRequest) => {
      const last = (await eventsOf(plans.solve(asked, signal()))).at(-1);
      if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error(JSON.stringify(last));
      plans.keep(last.answer.plan.id, "someone");
      return last.answer.plan;
    };
    const first = await ask(request);
    const capped = { ...planConstraintsSchema.parse({}), maxUsdPerHour: 1000 };
    const second = await ask({ ...request, constraints: capped });
    expect(second).toMatchObject({ topologyHash: first.topologyHash, policyHash: first.policyHash });
    expect(second.id).not.toBe(first.id);
    expect(store.plans.get(first.id)?.inputs.constraints).toBeUndefined();
    expect((await ask(request)).id).toBe(first.id);
  });

  it("gives plans of two workloads with one deployment two ids, and an approval of one does not apply the other", async () => {
    const { outcomes, ...workload } = shortWorkload({ prompts: 400, seed: 4 });
    const workloadId = storeWorkload(store, {
      ...workload,
      name: "of other prompts",
      outcomes: { ...outcomes, promptIds: outcomes.promptIds.map((id) => `other-${id}`) },
    });
    const solved = async (asked: SolveRequest) => {
      const last = (await eventsOf(plans.solve(asked, signal()))).at(-1);
      if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error(JSON.stringify(last));
      plans.keep(last.answer.plan.id, "someone");
      return last.answer.plan;
    };
    const [one, other] = [await solved(request), await solved({ ...request, workloadId })];
    expect(other).toMatchObject({ topologyHash: one.topologyHash, policyHash: one.policyHash });
    expect(other.inputs.workload).toMatchObject({ id: workloadId, version: 1 });
    expect(approve(one.id, "c")).toMatchObject({ ok: true });
    expect(plans.approve({ planId: other.id, clusterId: "c", hash: hashOf(one.id, "c"), reason: "" }, "someone")).toMatchObject({
      ok: false,
    });
    expect(approvalRefusal(store, one.id, "c")).toBeNull();
    expect(approvalRefusal(store, other.id, "c")).toMatch(/is not approved on this cluster: approve it\.$/);
  });

  it("holds an approval to the connection that it was given for, and says that it must be given again", async () => {
    const last = (await eventsOf(plans.solve({ ...request, requestsPerSecond: 19 }, signal()))).at(-1);
    if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error(JSON.stringify(last));
    const { id } = last.answer.plan;
    expect(approve(id, "c")).toMatchObject({ ok: true });
    const shown = hashOf(id, "c");
    store.clusters.setConnection("c", { kind: "processes", ...{ engine: { command: ["sh", "-c", "anything"] } } });
    expect(approvalRefusal(store, id, "c")).toMatch(/^The cluster's connection, .* has changed since .* was approved: approve it again\.$/);
    expect(plans.get(id)).toMatchObject({ summary: { approvalStanding: "changed" }, approvals: [{ standing: "changed" }] });
    expect(plans.approve({ planId: id, clusterId: "c", hash: shown, reason: "" }, "someone")).toMatchObject({ ok: false });
    expect(approve(id, "c")).toMatchObject({ ok: true });
    expect(approvalRefusal(store, id, "c")).toBeNull();
    store.clusters.setConnection("c", null);
  });

  it("computes the figures of an imported plan again, and marks those that it cannot compute as claimed", async () => {
    const last = (await eventsOf(plans.solve({ ...request, requestsPerSecond: 18 }, signal()))).at(-1);
    if (last?.kind !== "answer" || last.answer.outcome !== "plan") throw new Error(JSON.stringify(last));
    const { plan } = last.answer;
    const predictions = { ...plan.predictions, quality: 99.9, p95Seconds: 0.001 };
    const imported = await plans.importDocument(sealPlan({ ...plan, predictions }, new Date()), "someone");
    const kept = plans.get(imported.ok ? imported.id : "");
    expect(kept).toMatchObject({ summary: { claimed: null }, plan: { policyHash: plan.policyHash } });
    expect(kept?.plan.predictions.quality).toBeCloseTo(plan.predictions.quality, 6);
    expect(kept?.plan.predictions.p95Seconds).toBeCloseTo(plan.predictions.p95Seconds, 6);

    const workload = { ...plan.inputs.workload, id: "elsewhere" };
    const strange = sealPlan({ ...plan, predictions, inputs: { ...plan.inputs, workload } }, new Date());
    expect(await plans.importDocument(strange, "someone")).toEqual({ ok: true, id: strange.id });
    const claimed = "Its figures are those of whoever made it. There is no workload elsewhere.";
    expect(plans.get(strange.id)?.summary.claimed).toBe(claimed);
    // Neither saving nor approving computes them.
    expect(plans.keep(strange.id, "someone")).toMatchObject({ ok: true });
    expect(approve(strange.id, "c")).toMatchObject({ ok: true });
    expect(plans.get(strange.id)?.summary.claimed).toBe(claimed);
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
    expect(approve(there.id, "d", "staging")).toMatchObject({ ok: true });
    expect(plans.list("d")).toMatchObject([{ id: there.id, clusterId: "d", approvalReason: "staging" }]);
    expect(plans.list("c").find(({ id }) => id === here.id)).toMatchObject({ clusterId: "c" });
    expect([store.approvals.standingOn(there.id, "d"), store.approvals.standingOn(there.id, "c")]).toEqual(["valid", null]);

    // Documents that were sealed before ids covered the cluster may have one id for two clusters.
    const [earlier, other] = [here, there].map(({ rule: _, ...plan }) => ({ ...plan, id: earlierPlanIds(plan)[1] ?? "" }));
    store.plans.keep(earlier as Plan);
    expect(await plans.importDocument(earlier, "someone")).toEqual({ ok: true, id: earlier?.id });
    expect(await plans.importDocument(other, "someone")).toMatchObject({
      ok: false,
      message: expect.stringMatching(/is kept with another content already, for .* on c: solve it again\.$/),
    });
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
