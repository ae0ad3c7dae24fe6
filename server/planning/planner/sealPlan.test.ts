import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { approvalHash, earlierPlanIds, planHashes } from "@/server/contracts/gateway/planHash";
import { type Plan, planSchema } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { readPlan } from "./readPlan";
import { sealPlan } from "./sealPlan";

const at = new Date("2026-01-02T03:04:05Z");
const sealed = sealPlan(examplePlanDraft(), at);

/** Paths of all numbers and strings in a value. */
function leavesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return typeof value === "number" || typeof value === "string" ? [path] : [];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, [...path, key]));
}

/** A copy with one leaf changed. */
function changedAt(plan: Plan, path: readonly string[]): Plan {
  const copy = structuredClone(plan) as unknown as Record<string, unknown>;
  const last = path.at(-1) ?? "";
  const parent = path.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, copy);
  parent[last] = typeof parent[last] === "number" ? parent[last] + 1 : `${parent[last]}x`;
  return copy as unknown as Plan;
}

const effort = ["solver.seconds", "solver.evaluatedThresholds", "solver.replicaSimulations"];
const isCovered = (path: readonly string[]): boolean =>
  ["deployment", "policy", "inputs", "predictions", "solver"].includes(path[0] ?? "") && !effort.includes(path.join("."));
const leaves = leavesOf(sealed).filter(
  ([first]) => !["id", "topologyHash", "policyHash", "apiVersion", "kind", "rule"].includes(first ?? ""),
);

test("a sealed plan survives export and import unchanged", () => {
  expect(planSchema.parse(JSON.parse(JSON.stringify(sealed)))).toEqual(sealed);
  expect(readPlan(JSON.parse(JSON.stringify(sealed)))).toEqual({ ok: true, plan: sealed });
});

test("any change of what an approver relies on changes the id, and the document is refused under its old one", () => {
  const covered = leaves.filter(isCovered);
  expect(covered.length).toBeGreaterThan(50);
  fc.assert(
    fc.property(fc.constantFrom(...covered), (path) => {
      const changed = changedAt(sealed, path);
      expect(planHashes(changed).id).not.toBe(sealed.id);
      expect(readPlan(changed).ok).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test("name, date and the effort of solving do not change the id", () => {
  const uncovered = leaves.filter((path) => !isCovered(path));
  expect(uncovered.map((path) => path.join(".")).sort()).toEqual([...effort, "metadata.createdAt", "metadata.name"].sort());
  for (const path of uncovered) expect(planHashes(changedAt(sealed, path)).id).toBe(sealed.id);
  expect(sealPlan({ ...examplePlanDraft(), metadata: { name: "other" } }, new Date("2027-01-01T00:00:00Z")).id).toBe(sealed.id);
});

test("plans with one deployment and policy for two workloads have two ids", () => {
  const draft = examplePlanDraft();
  const workload = { ...draft.inputs.workload, id: "another" };
  const other = sealPlan({ ...draft, inputs: { ...draft.inputs, workload } }, at);
  expect(other).toMatchObject({ topologyHash: sealed.topologyHash, policyHash: sealed.policyHash });
  expect(other.id).not.toBe(sealed.id);
});

test("an imported plan with invented figures does not match its id", () => {
  const invented = { ...sealed, predictions: { ...sealed.predictions, quality: 99, p95Seconds: 0.1 } };
  expect(readPlan(invented)).toMatchObject({ ok: false, message: expect.stringContaining("The plan's id does not match its content") });
});

test("what an approval binds to covers the cluster and the commands in its connection, and not where GPU figures come from", () => {
  const connection = { kind: "processes", engine: { command: ["vllm", "serve"] }, dcgmUrls: ["http://a:9400"] };
  const hash = (change: object, clusterId = "c") => approvalHash({ plan: sealed, clusterId, connection: { ...connection, ...change } });
  expect(hash({ dcgmUrls: [] })).toBe(hash({}));
  expect(hash({ engine: { command: ["vllm", "serve", "--enable-anything"] } })).not.toBe(hash({}));
  expect(hash({}, "d")).not.toBe(hash({}));
  expect(approvalHash({ plan: sealed, clusterId: "c", connection: null })).not.toBe(hash({}));
});

test("a document sealed under the old rule is read under its own id, and an altered one is not", () => {
  const old = JSON.parse(readFileSync(join(import.meta.dirname, "testing", "planOfOldRule.json"), "utf8")) as Plan;
  expect(old.rule).toBeUndefined();
  expect(readPlan(old)).toEqual({ ok: true, plan: old });
  const [, earliest = ""] = earlierPlanIds(old);
  expect(readPlan({ ...old, id: earliest })).toMatchObject({ ok: true, plan: { id: earliest } });
  const inputs = { ...old.inputs, cluster: { ...old.inputs.cluster, id: "other" } };
  expect(readPlan({ ...old, inputs })).toMatchObject({ ok: false, message: expect.stringContaining("The plan's id does not match") });
  const { rule: _, ...stripped } = sealed;
  expect(readPlan(stripped)).toMatchObject({ ok: false });
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
  const policy = { ...draft.policy, order: { kind: "sjf", agingReleases: 30 } } as unknown as PolicyDocument;
  const plan = { ...draft, policy };
  const [id] = earlierPlanIds(plan);
  return { ...plan, ...planHashes(plan), id, metadata: { ...plan.metadata, createdAt: at.toISOString() } };
}

test("a plan that was sealed with a field's old name is read with the new one under its own hashes", () => {
  const old = sealedWithOldNames();
  const read = readPlan(JSON.parse(JSON.stringify(old)));
  const expected = { ...old, policy: { ...old.policy, order: { kind: "sjf", agingThreshold: 30 } } };
  expect(read).toEqual({ ok: true, plan: expected });
  // An export has the new name and the old hashes.
  expect(readPlan(JSON.parse(JSON.stringify(expected)))).toEqual(read);
  const [, earliest] = earlierPlanIds(old);
  expect(readPlan({ ...old, id: earliest })).toEqual({ ok: true, plan: { ...expected, id: earliest } });
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
