import { expect, test } from "vitest";
import { planSchema } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { readPlan } from "./readPlan";
import { earlierPlanId, planHashes, sealPlan } from "./sealPlan";

const at = new Date("2026-01-02T03:04:05Z");

test("a sealed plan survives export and import unchanged", () => {
  const plan = sealPlan(examplePlanDraft(), at);
  expect(planSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
});

test("the id covers topology, policy and the cluster and nothing else", () => {
  const draft = examplePlanDraft();
  const plan = sealPlan(draft, at);
  expect(sealPlan({ ...draft, metadata: { name: "other" } }, new Date("2027-01-01T00:00:00Z")).id).toBe(plan.id);

  const turned = sealPlan({ ...draft, policy: { ...draft.policy, thresholds: [61] } }, at);
  expect(turned.id).not.toBe(plan.id);
  expect(turned.topologyHash).toBe(plan.topologyHash);
  expect(turned.policyHash).not.toBe(plan.policyHash);

  const cluster = { ...draft.inputs.cluster, id: "other" };
  const elsewhere = sealPlan({ ...draft, inputs: { ...draft.inputs, cluster } }, at);
  expect(elsewhere.id).not.toBe(plan.id);
  expect(elsewhere).toMatchObject({ topologyHash: plan.topologyHash, policyHash: plan.policyHash });
});

test("a document that was sealed before ids covered the cluster is read under its own id, and an altered one is not", () => {
  const plan = sealPlan(examplePlanDraft(), at);
  const earlier = { ...plan, id: earlierPlanId(plan) };
  expect(readPlan(earlier)).toEqual({ ok: true, plan: earlier });
  const inputs = { ...plan.inputs, cluster: { ...plan.inputs.cluster, id: "other" } };
  expect(readPlan({ ...plan, inputs })).toMatchObject({ ok: false, message: expect.stringContaining("The plan's id does not match") });
});

test("a policy with a threshold too many is refused with both counts", () => {
  const draft = examplePlanDraft();
  expect(() => sealPlan({ ...draft, policy: { ...draft.policy, thresholds: [60, 70] } }, at)).toThrow(
    "2 stages need 1 thresholds, found 2",
  );
});

/** A plan as it was sealed before `agingReleases` was called `agingThreshold`. */
function sealedWithOldNames() {
  const draft = examplePlanDraft();
  const { policy } = draft;
  const old = { ...policy, order: { kind: "sjf", agingReleases: 30 } } as unknown as PolicyDocument;
  const plan = { ...draft, policy: old };
  return { ...plan, ...planHashes(plan), metadata: { ...plan.metadata, createdAt: at.toISOString() } };
}

test("a plan that was sealed with a field's old name is read with the new one under its own hashes", () => {
  const old = sealedWithOldNames();
  const read = readPlan(JSON.parse(JSON.stringify(old)));
  const expected = { ...old, policy: { ...old.policy, order: { kind: "sjf", agingThreshold: 30 } } };
  expect(read).toEqual({ ok: true, plan: expected });
  // An export has the new name and the old hashes.
  expect(readPlan(JSON.parse(JSON.stringify(expected)))).toEqual(read);
  const earlier = { ...old, id: earlierPlanId(old) };
  expect(readPlan(earlier)).toEqual({ ok: true, plan: { ...expected, id: earlier.id } });
});

test("a plan that was sealed with a field's old name and altered since is refused", () => {
  const old = sealedWithOldNames();
  const altered = { ...old, policy: { ...old.policy, order: { kind: "sjf", agingReleases: 31 } } };
  expect(readPlan(altered)).toMatchObject({ ok: false, message: expect.stringContaining("The plan's policyHash does not match") });
});

test("a plan sealed with the new name is another document, and survives export and import", () => {
  const draft = examplePlanDraft();
  const plan = sealPlan({ ...draft, policy: { ...draft.policy, order: { kind: "sjf", agingThreshold: 30 } } }, at);
  expect(readPlan(JSON.parse(JSON.stringify(plan)))).toEqual({ ok: true, plan });
});
