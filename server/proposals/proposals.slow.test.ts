import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createProposalService } from "@/server/api/plans/proposalService";
import { createCardStore } from "@/server/cards/cardStore";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { createPlanner } from "@/server/planning/planner/planner";
import { createPlanningService, type Planning } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { loadWorkload, storeWorkload } from "@/server/workloads/storedWorkloads";
import { brokenConstraints } from "@/solver/deployment/testing/testBrokenConstraints";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import type { Plan } from "@/solver/plan/plan";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { proposeChange } from "./proposeChange";
import { type TestTraffic, testDecisions } from "./testing/testDecisions";
import { createTrafficWatch, type TrafficWatch } from "./trafficWatch";

const clusterId = "c";
const workload = shortWorkload({ prompts: 2000, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 });
/** So many requests take replicas of few GPUs each; so few as come are answered faster by replicas of many. */
const PLANNED_RATE = 100;
const RATE = 2;
const WINDOW = 300;
const TIME_SCALE = 100;
const START_MS = Date.parse("2026-01-01T12:00:00Z");
const at = "2026-01-01T00:00:00.000Z";

const planner = createPlanner();
let folder: string;
let store: Store;
let planning: Planning;
let plan: Plan;
let nowMs: number;
let records: Decision[];
let watch: TrafficWatch;

const objective = {
  ...{ kind: "latency-under-quality" as const, latency: "end-to-end" as const, percentile: 95, qualityFloor: 20 },
  ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 4 },
};

const startWatch = (): TrafficWatch =>
  createTrafficWatch({
    ...{ store, planning, windowSeconds: WINDOW, lookEveryMs: 5, now: () => nowMs },
    sourceOf: () => ({ decisions: () => records, mirrored: () => [], timeScale: TIME_SCALE }),
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-proposals-"));
  const first = openStore(join(folder, "first"));
  first.clusters.insert(
    { id: clusterId, name: "c", kind: "described", gpu: "l40s", nodes: [{ name: "node1", gpus: 4 }], usdPerGpuHour: 1 },
    at,
  );
  const workloadId = storeWorkload(first, workload);
  const answer = await createPlanningService(first, planner, createCardStore(folder)).solve(
    { workloadId, clusterId, requestsPerSecond: PLANNED_RATE, objective, fixed: null },
    {},
  );
  if (answer.outcome !== "plan") throw new Error(answer.reason);
  plan = answer.plan;
  first.close();
});
beforeEach(() => {
  store = openStore(mkdtempSync(join(folder, "store-")));
  store.clusters.insert(plan.inputs.cluster, at);
  storeWorkload(store, workload);
  store.plans.keep(plan);
  store.clusters.setRunning(clusterId, { planId: plan.id, since: at });
  planning = createPlanningService(store, planner, createCardStore(folder));
  nowMs = START_MS;
  records = [];
  watch = startWatch();
  return async () => {
    await watch.close();
    store.close();
  };
});
afterAll(async () => {
  await planner.close();
  rmSync(folder, { recursive: true });
});

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((wake) => setTimeout(wake, 5));
};
const judgedAt = () => watch.report(clusterId)?.last?.at ?? null;

/** Lets so many windows of traffic pass, each judged before the next. */
async function pass(windows: number, traffic: TestTraffic): Promise<void> {
  for (let window = 0; window < windows; window += 1) {
    const fromSeconds = ((nowMs - START_MS) / 1000) * TIME_SCALE;
    await until(() => watch.report(clusterId) !== null);
    const before = judgedAt();
    // A little more than a window, which begins with its first request.
    const seconds = WINDOW + 20;
    records = testDecisions({ plan, workload, timeScale: TIME_SCALE, startMs: START_MS }, { fromSeconds, seconds }, traffic);
    nowMs += 1;
    await new Promise((wake) => setTimeout(wake, 30));
    nowMs += (seconds / TIME_SCALE) * 1000 - 1;
    await until(() => judgedAt() !== before);
  }
}
const proposals = () => store.proposals.list(clusterId);
const drifting: TestTraffic = { rate: RATE };

test("where lengths have drifted too, the plan is made from what was seen, and says what is modelled", async () => {
  await pass(2, { rate: RATE, longer: 1.6 });
  await until(() => proposals().length === 1);
  const [proposal] = proposals();
  expect(proposal!.drifted.map(({ name }) => name)).toEqual(["rate", "input tokens"]);
  expect(proposal!.basis.join(" ")).toContain("Modelled by like prompts of the workload: labels");
  expect(proposal!.gain.latencySeconds).toBeGreaterThan(0);
  const { inputs } = store.plans.get(proposal!.planId)!;
  const made = loadWorkload(store, inputs.workload.id)!;
  expect(made.name).toMatch(/, seen 2026-01-01 12:\d\d$/);
  const mean = (values: Int32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(mean(made.outcomes.inputTokens) / mean(workload.outcomes.inputTokens)).toBeCloseTo(1.6, 1);
});

test("a dismissed proposal is not made again while the traffic stays as it is, and is not made again after a restart", async () => {
  await pass(2, drifting);
  await until(() => proposals().length === 1);
  expect(createProposalService(store).dismiss(proposals()[0]!.id, "a person")).toEqual({ ok: true });
  await pass(1, drifting);
  await watch.close();
  watch = startWatch();
  await pass(2, drifting);
  expect(watch.report(clusterId)?.driftedSince).not.toBeNull();
  expect(proposals().map(({ state }) => state)).toEqual(["dismissed"]);
});

test("a proposal is superseded when the traffic returns to what was planned", async () => {
  await pass(2, drifting);
  await until(() => proposals().length === 1);
  await pass(2, { rate: PLANNED_RATE });
  expect(proposals()[0]).toMatchObject({ state: "superseded", closed: { by: "studio" } });
  expect(store.audit.list(1)[0]).toMatchObject({ action: "proposal superseded", detail: "the traffic is as planned again" });
});

test("a proposal whose plan is put into force is applied, and superseded where it is another plan", async () => {
  await pass(2, drifting);
  await until(() => proposals().length === 1);
  const [proposal] = proposals();
  store.clusters.setRunning(clusterId, { planId: proposal!.planId, since: at });
  await until(() => proposals()[0]?.state !== "open");
  expect(proposals()[0]?.state).toBe("applied");
  store.clusters.setRunning(clusterId, { planId: plan.id, since: at });
  await until(() => watch.report(clusterId)?.planId === plan.id);
  await pass(2, drifting);
  await until(() => proposals().length === 2);
  store.clusters.setRunning(clusterId, null);
  await until(() => store.proposals.open(clusterId) === null);
  expect(proposals().map(({ state }) => state)).toEqual(["superseded", "applied"]);
});

test("a proposed plan keeps the constraints of the plan in force", async () => {
  const constraints = planConstraintsSchema.parse({ pinned: [{ model: "qwen2.5-3b", replicas: 1 }], maxUsdPerHour: 4 });
  const workloadId = plan.inputs.workload.id;
  const asked = { workloadId, clusterId, objective: { ...objective, qualityFloor: 45 }, fixed: null, constraints };
  const pinned = await planning.solve({ ...asked, requestsPerSecond: 60 }, {});
  if (pinned.outcome !== "plan") throw new Error(pinned.reason);
  const traffic = { workloadId, requestsPerSecond: RATE, basis: [] };
  const { signal } = new AbortController();
  const change = await proposeChange(planning, { plan: pinned.plan, clusterId, traffic, restartSeconds: 5, signal });
  if (change.outcome !== "worthwhile") throw new Error(change.says);
  expect(change.proposed.inputs.constraints).toEqual(constraints);
  expect(brokenConstraints(change.proposed, constraints, runningReplicas(pinned.plan))).toEqual([]);
});
