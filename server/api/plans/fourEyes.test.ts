import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import type { Planning } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { createPlanService } from "./planService";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-four-eyes-"));
  store = openStore(folder);
  for (const id of ["ann", "bob"]) store.users.insert({ id, name: id, issuer: "i", subject: id, role: "approver", createdAt: "" });
  store.users.setFourEyes(true);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

/** A service that has just solved a plan, which nobody saved. */
async function solved() {
  const plan = sealPlan(examplePlanDraft(), new Date(0));
  store.clusters.insert(plan.inputs.cluster, plan.metadata.createdAt);
  const planning = { solve: async () => ({ outcome: "plan" as const, plan }) } as unknown as Planning;
  const plans = createPlanService({ store, clusterOf: () => null, planning });
  for await (const _ of plans.solve({} as SolveRequest, new AbortController().signal));
  const clusterId = plan.inputs.cluster.id;
  const hash = plans.get(plan.id)?.approvalHashes[clusterId] ?? "";
  const approve = (by: string) => plans.approve({ planId: plan.id, clusterId, hash, reason: "" }, by, by);
  return { plan, plans, approve };
}

it("refuses the approval of a plan that was solved and not saved: its approver would be its maker", async () => {
  const { plan, plans, approve } = await solved();
  expect(approve("ann")).toEqual({ ok: false, message: "Four eyes is on: save the plan first; another person approves it." });
  expect(store.plans.get(plan.id)).toBeNull();
  expect(plans.keep(plan.id, "ann", "ann")).toMatchObject({ ok: true });
  expect(approve("ann")).toMatchObject({ ok: false });
  expect(approve("bob")).toMatchObject({ ok: true });
});

it("lets anybody approve what the studio itself saved, and everything while it is off", async () => {
  const { plan, approve } = await solved();
  store.plans.keep(plan);
  expect(store.plans.maker(plan.id)).toBeNull();
  expect(approve("ann")).toMatchObject({ ok: true });
  store.users.setFourEyes(false);
  expect(approve("bob")).toMatchObject({ ok: true });
});
