import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import type { StoredApplication } from "@/server/store/applicationRepository";
import { openStore, type Store } from "@/server/store/store";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { removalRefusal } from "./removalRefusal";

const hash = "a".repeat(64);
const draft = examplePlanDraft();
const withIt = sealPlan({ ...draft, policy: { ...draft.policy, learnt: { lengths: hash } } }, new Date(0));
const without = sealPlan(draft, new Date(0));
const clusterId = draft.inputs.cluster.id;
const minute = (count: number): string => new Date(60_000 * count).toISOString();

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-removal-"));
  store = openStore(folder);
  for (const plan of [withIt, without]) store.plans.keep(plan);
  store.clusters.insert({ ...draft.inputs.cluster, kind: "processes" }, minute(0));
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const refusal = () => removalRefusal(store, hash);
const approve = (count: number): void =>
  store.approvals.insert({ planId: withIt.id, clusterId, actor: "ann", at: minute(count), reason: "" });
const force = (planId: string, count: number): void => store.clusters.setRunning(clusterId, { planId, since: minute(count) });
const application = (change: Partial<StoredApplication>): StoredApplication => ({
  ...{ id: "one", clusterId, planId: without.id, previousPlanId: null, hasWayBack: true, kind: "apply", state: "done", steps: [] },
  ...{ startedAt: minute(1), endedAt: minute(2), graceEndsAt: null, error: null, actor: "ann", undoing: false },
  ...{ rollBackOnRegression: false, halt: null, verification: null },
  ...change,
});

it("lets a predictor go that plans name which nobody approved, or that another one replaced since", () => {
  expect(refusal()).toBeNull();
  approve(3);
  force(without.id, 4);
  expect(refusal()).toBeNull();
  expect(removalRefusal(store, "b".repeat(64))).toBeNull();
});

it("keeps one that the plan in force names", () => {
  force(withIt.id, 4);
  expect(refusal()).toMatch(/^The plan in force on .* names this predictor/);
});

it("keeps one of a plan that was approved and waits to be put into force, until another one is", () => {
  approve(5);
  expect(refusal()).toMatch(/is approved on .* and names this predictor: put another plan into force there first\.$/);
  force(without.id, 4);
  expect(refusal()).toMatch(/is approved/);
  force(without.id, 6);
  expect(refusal()).toBeNull();
  store.clusters.setRunning(clusterId, null);
  expect(refusal()).toMatch(/is approved/);
  store.applications.save(application({ endedAt: minute(7) }));
  expect(refusal()).toBeNull();
});

it("does not keep one for an approval on a cluster that is only described", () => {
  store.clusters.respecify({ ...draft.inputs.cluster, kind: "described" });
  approve(5);
  expect(refusal()).toBeNull();
});

it("keeps one that a roll-out leads to or would go back to, also while it is held against its promises", () => {
  const roads: readonly Partial<StoredApplication>[] = [
    { planId: withIt.id, state: "grace", endedAt: null },
    { planId: withIt.id, state: "paused", endedAt: null },
    { previousPlanId: withIt.id, state: "running", endedAt: null },
    { previousPlanId: withIt.id, verification: { state: "watching" } as StoredApplication["verification"] },
  ];
  for (const road of roads) {
    store.applications.save(application(road));
    expect(refusal()).toMatch(/^A roll-out on .* may need this predictor/);
  }
  store.applications.save(application({ previousPlanId: withIt.id }));
  expect(refusal()).toBeNull();
});

it("keeps one that a schedule will switch to, though another plan is in force", () => {
  approve(1);
  force(without.id, 4);
  const schedule = { clusterId, timeZone: "Europe/Berlin", entries: [{ at: "20:00", planId: withIt.id }] };
  store.schedules.save({ clusterId, schedule, enabled: true, setBy: "ann", setAt: minute(2), memory: null });
  expect(refusal()).toMatch(/^The schedule of .* has .* which names this predictor, at 20:00: set the schedule without it first\.$/);
  store.schedules.remove(clusterId);
  expect(refusal()).toBeNull();
});
