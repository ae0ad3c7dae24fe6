import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { Artefact } from "@/server/contracts/studio";
import { createPlanner } from "@/server/planning/planner/planner";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { modelsOf, type PolicyDocument } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { createPlanService } from "./planService";

const base = sealPlan(examplePlanDraft(), new Date(0));
const models = modelsOf(base.policy);
const [lengths, confidence, embedding, narrow] = ["a", "b", "c", "d"].map((digit) => digit.repeat(64)) as [string, string, string, string];
const slack = (learnt: PolicyDocument["learnt"], tau = 0.5): PolicyDocument => ({
  kind: "slack",
  models: models.map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 32, confidence: 0.5 })),
  ...{ tau, deltaScore: 0, floorSeconds: 1, order: { kind: "stjf", agingThreshold: 100 }, place: { kind: "least-load" } },
  approvedRanges: { tau: { min: 0, max: 2 }, deltaScore: { min: 0, max: 1 } },
  ...(learnt === undefined ? {} : { learnt }),
});

let folder: string;
let store: Store;
let planner: ReturnType<typeof createPlanner>;
let plans: ReturnType<typeof createPlanService>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-reroute-"));
  store = openStore(folder);
  planner = createPlanner();
  plans = createPlanService({ store, clusterOf: () => null, planning: createPlanningService(store, planner, createCardStore(folder)) });
  store.plans.keep(base);
  store.clusters.insert(base.inputs.cluster, new Date(0).toISOString());
  const training: Artefact["training"] = {
    ...{ workloadId: "w", workloadName: "w", models, workflows: [], correlation: null, prompts: 1, requests: 1, texts: true },
    ...{ encoder: null, source: "labelled prompts", emulated: false },
  };
  const put = (hash: string, kind: Artefact["kind"], more: Partial<Artefact["training"]> = {}) =>
    store.artefacts.insert(
      { hash, kind, createdAt: new Date(0).toISOString(), actor: "a", training: { ...training, ...more }, heldOut: { prompts: 1 } },
      new Uint8Array([1]),
    );
  put(lengths, "lengths");
  put(confidence, "confidence");
  put(embedding, "confidence", { encoder: { name: "tiny", sha256: "5".repeat(64) } });
  put(narrow, "lengths", { models: models.slice(1) });
});
afterAll(async () => {
  await planner.close();
  store.close();
  rmSync(folder, { recursive: true });
});
const approve = (planId: string) => {
  const clusterId = base.inputs.cluster.id;
  return plans.approve({ planId, clusterId, hash: plans.get(planId)?.approvalHashes[clusterId] ?? "", reason: "" }, "bob");
};
const reroute = (policy: PolicyDocument) => plans.reroute({ planId: base.id, name: "slack", policy }, "ada");
const messageOf = (outcome: ReturnType<typeof reroute>) => (outcome.ok ? "" : outcome.message);

it("keeps a plan on the engines of another, says that its figures are the other's, and who names which predictor", async () => {
  const kept = reroute(slack({ lengths, confidence }));
  if (!kept.ok) throw new Error(kept.message);
  const plan = store.plans.get(kept.id);
  expect(plan?.deployment).toEqual(base.deployment);
  expect(plan?.topologyHash).toBe(base.topologyHash);
  expect(plan?.predictions.quality).toBe(base.predictions.quality);
  expect(plan?.predictions.notes[0]).toMatch(/^Quality, latency and shares are those of plan .* nothing predicts this policy\./);
  expect(store.plans.withPredictors()).toEqual([
    { id: kept.id, clusterId: base.inputs.cluster.id, name: "slack", predictors: [lengths, confidence] },
  ]);
  expect(store.audit.list(1)[0]).toMatchObject({ action: "reroute plan", actor: "ada", subject: kept.id });
  const { id: planId } = kept;
  expect(approve(planId)).toMatchObject({ ok: true });
  store.artefacts.remove(lengths);
  expect(messageOf(approve(planId) as never)).toMatch(/names the predictor aaaaaaaa for lengths, which is not kept here/);
  expect(messageOf(await plans.importDocument(plan, "bob"))).toMatch(/not kept here/);
});

it("says of a plan with another order that quality and shares stay, and of nothing more", () => {
  const { order: _, place: __, ...routes } = base.policy;
  const kept = reroute({ ...routes, order: { kind: "workflow", agingThreshold: 100 }, place: { kind: "time-slots" } });
  if (!kept.ok) throw new Error(kept.message);
  const plan = store.plans.get(kept.id);
  expect(plan?.policy).toMatchObject({ order: { kind: "workflow" }, place: { kind: "time-slots" } });
  expect(plan?.topologyHash).toBe(base.topologyHash);
  expect(plan?.predictions.notes[0]).toMatch(
    /^Latencies are those of plan .* another order or place: .* Quality and shares stay as they are\./,
  );
});

it("says of a plan with grace that its figures hold while no stage is overloaded", () => {
  const { policy } = base;
  if (policy.kind !== "cascade") throw new Error("The plan is no cascade.");
  const kept = reroute({ ...policy, grace: { waiting: 20, calm: 5, holdSeconds: 10, pointsPerSecond: 1 } });
  if (!kept.ok) throw new Error(kept.message);
  expect(store.plans.get(kept.id)?.predictions.notes[0]).toMatch(/has other grace: they hold while no later stage is overloaded/);
});

it("keeps and approves a plan whose predictor reads an encoder's embeddings: whether a gateway has that encoder only the gateway can say", () => {
  const kept = reroute(slack({ confidence: embedding }));
  if (!kept.ok) throw new Error(kept.message);
  const { id: planId } = kept;
  expect(approve(planId)).toMatchObject({ ok: true });
});

it("refuses predictors that cannot serve, engines that are not there and policies that cannot run", () => {
  expect(messageOf(reroute(slack({ lengths: confidence })))).toMatch(/for lengths, but it is one of confidence/);
  expect(messageOf(reroute(slack({ lengths: narrow })))).toContain(`was not trained for ${models[0]}`);
  expect(messageOf(reroute(slack(undefined, 3)))).toMatch(/^The policy cannot run\. tau is 3/);
  const elsewhere: PolicyDocument = { kind: "fixed", model: "gemma-2-2b", order: { kind: "fcfs" }, place: { kind: "least-load" } };
  expect(messageOf(reroute(elsewhere))).toMatch(/^gemma-2-2b has no engines in the plan/);
  expect(messageOf(reroute(base.policy))).toMatch(/the plan's own policy/);
});
