import { afterAll, beforeAll, expect, test } from "vitest";
import { createProposalService } from "@/server/api/plans/proposalService";
import { createCardStore } from "@/server/cards/cardStore";
import { startTestCluster, timeScale } from "@/server/clusters/testing/testCluster";
import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import type { Proposal, TrafficReport } from "@/server/contracts/studio";
import { startLoad } from "@/server/load/driver";
import { createPlanner } from "@/server/planning/planner/planner";
import { createPlanningService } from "@/server/planning/planningService";
import { type Collector, createCollector } from "@/server/telemetry/collector";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import { drawSample } from "@/solver/workload/sample";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { createPredictionMonitor } from "./predictionMonitor";
import { applyPlan, until } from "./testing/appliedPlan";
import { createTrafficWatch } from "./trafficWatch";

const workload = shortWorkload({ prompts: 2000, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 });
const clusterId = "embedded";
/** So many requests take replicas of few GPUs each; so few as come are answered faster by replicas of many. */
const PLANNED_RATE = 100;
const RATE = 2;
const WINDOW = 150;

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let collector: Collector;
const planner = createPlanner();
beforeAll(async () => {
  cluster = await startTestCluster();
  const { environment } = cluster;
  collector = createCollector({
    clusterId,
    targets: () => [],
    dcgmUrls: [],
    gatewayAdminUrl: `http://127.0.0.1:${environment.WEIR_GATEWAY_ADMIN_PORT}`,
    adminToken: environment.WEIR_ADMIN_TOKEN,
    timeScale,
    intervalMs: 200,
  });
}, 60_000);
afterAll(async () => {
  collector.close();
  await planner.close();
  await cluster.stop();
});

test("load at another rate than planned leads to a proposal that a person applies or dismisses, and to nothing else", async () => {
  const { store, environment } = cluster;
  const spec = {
    id: clusterId,
    name: "embedded",
    kind: "embedded" as const,
    gpu: "l40s",
    nodes: [{ name: "node1", gpus: 4 }],
    usdPerGpuHour: 1,
  };
  store.clusters.insert(spec, "2026-01-01T00:00:00.000Z");
  const workloadId = storeWorkload(store, workload);
  const planning = createPlanningService(store, planner, createCardStore(environment.WEIR_STATE_DIR));
  const objective = {
    ...{ kind: "latency-under-quality" as const, latency: "end-to-end" as const, percentile: 95, qualityFloor: 20 },
    ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 4 },
  };
  const solved = await planning.solve({ workloadId, clusterId, requestsPerSecond: PLANNED_RATE, objective, fixed: null }, {});
  if (solved.outcome !== "plan") throw new Error(solved.reason);
  const { plan } = solved;
  await applyPlan(plan, { cluster, clusterId });

  const watch = createTrafficWatch({
    ...{ store, planning, windowSeconds: WINDOW, lookEveryMs: 100 },
    sourceOf: () => ({ decisions: collector.decisions, mirrored: collector.mirrored, timeScale }),
  });
  const service = createProposalService(store);
  const desk = createPredictionMonitor({
    ...{ store, planner, trafficOf: watch.traffic },
    sourceOf: () => ({
      decisions: collector.decisions,
      mirrored: collector.mirrored,
      timeScale,
      labelOf: () => null,
      emulated: false,
      emulatedAsPlanned: false,
      frame: () => collector.frames().at(-1) ?? null,
    }),
  });
  // Ended as soon as there is a proposal.
  const seconds = 20 * WINDOW;
  const load = startLoad({
    ...{ id: "load", gatewayUrl: cluster.gatewayUrl, model: defaultCascade, timeScale, workloadName: "w", seconds, labelled: false },
    requestsPerSecond: RATE,
    sample: drawSample(workload, { part: "heldOut", requestsPerSecond: RATE, requests: RATE * seconds, seed: 9 }),
    outcomes: workload.outcomes,
  });
  const drifted = await until((): TrafficReport | null => {
    const report = watch.report(clusterId);
    return report?.driftedSince == null ? null : report;
  });
  expect(drifted.gauges.filter((gauge) => gauge.drifted).map(({ name }) => name)).toContain("rate");
  const { notComparable, promises, inputs } = desk.report(clusterId)!;
  expect(notComparable).toBeNull();
  expect(promises.find(({ name }) => name === "p95 end to end")).toMatchObject({
    promised: plan.predictions.p95Seconds,
    measured: expect.any(Number),
  });
  const rate = inputs.find(({ name }) => name === "rate")!;
  expect(rate).toMatchObject({ state: "drifted", planned: PLANNED_RATE });
  expect(rate.now).toBeLessThan(PLANNED_RATE / 2);
  const proposal = await until((): Proposal | null => service.list(clusterId)[0] ?? null);
  await load.stop();
  await watch.close();
  await desk.close();
  expect(proposal).toMatchObject({ state: "open", closed: null, runningPlanId: plan.id });
  expect(proposal.drifted.map(({ name }) => name)).toContain("rate");
  expect(proposal.basis.join(" ")).toContain("as measured in the last roll-outs here");
  const proposed = store.plans.get(proposal.planId)!;
  expect(proposed.inputs.objective).toEqual(objective);
  expect(proposed.inputs.workload.requestsPerSecond).toBeLessThan(PLANNED_RATE / 2);
  // Nothing was applied or approved by it.
  expect(store.clusters.get(clusterId)?.runningPlanId).toBe(plan.id);
  expect(store.approvals.ofPlan(proposal.planId)).toEqual([]);
  expect(store.audit.list(1)[0]).toMatchObject({ actor: "studio", action: "propose plan", subject: proposal.planId });
  expect(store.traffic.get(clusterId)?.traffic.driftedSince).toBe(drifted.driftedSince);

  expect(service.dismiss(proposal.id, "a person")).toEqual({ ok: true });
  expect(service.get(proposal.id)).toMatchObject({ state: "dismissed", closed: { by: "a person" } });
  expect(service.dismiss(proposal.id, "a person")).toMatchObject({ ok: false });
  expect(store.audit.list(1)[0]).toMatchObject({ actor: "a person", action: "dismiss proposal" });
});
