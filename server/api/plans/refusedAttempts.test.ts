import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import type { Connector } from "@/server/clusters/connector/connector";
import { createPlanner } from "@/server/planning/planner/planner";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { createApplicationService } from "./applicationService";
import { createPlanService } from "./planService";

const plan = sealPlan(examplePlanDraft(), new Date(0));
const planId = plan.id;
const clusterId = plan.inputs.cluster.id;

let folder: string;
let store: Store;
let planner: ReturnType<typeof createPlanner>;
let plans: ReturnType<typeof createPlanService>;
let applications: ReturnType<typeof createApplicationService>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-refused-"));
  store = openStore(folder);
  store.clusters.insert(plan.inputs.cluster, new Date(0).toISOString());
  store.plans.keep(plan);
  planner = createPlanner();
  plans = createPlanService({ store, clusterOf: () => null, planning: createPlanningService(store, planner, createCardStore(folder)) });
  // Nothing is asked of the cluster: each attempt is refused before.
  applications = createApplicationService(store, createApplyRunner({ store, connectorOf: () => ({}) as Connector }));
});
afterAll(async () => {
  await planner.close();
  store.close();
  rmSync(folder, { recursive: true });
});

it.each([
  ["an approval of another hash", "approve", () => plans.approve({ planId, clusterId, hash: "f".repeat(64), reason: "" }, "eve")],
  [
    "an approval for a cluster that is not there",
    "approve",
    () => plans.approve({ planId, clusterId: "gone", hash: planId, reason: "" }, "eve"),
  ],
  ["the import of an altered plan", "import plan", () => plans.importDocument({ ...plan, topologyHash: "0".repeat(64) }, "eve")],
  ["an apply without approval", "apply", () => applications.start({ planId, clusterId, expectedRunningPlanId: null }, "eve")],
  ["an apply over another plan than was seen", "apply", () => applications.start({ planId, clusterId, expectedRunningPlanId: "x" }, "eve")],
  ["a rollback to a plan that is not approved", "rollback", () => applications.rollback({ clusterId, toPlanId: planId }, "eve")],
])("%s is in the audit, with its author and the reason", async (_, action, attempt) => {
  const before = store.audit.list(100).length;
  const outcome = await attempt();
  expect(outcome.ok).toBe(false);
  const lines = store.audit.list(100);
  expect(lines).toHaveLength(before + 1);
  expect(lines[0]).toMatchObject({ actor: "eve", action, outcome: "refused", detail: "message" in outcome ? outcome.message : "" });
});
