import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { decisionPageSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { gatewayArtefactsSchema } from "@/server/contracts/gateway/gatewayLearning";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { trainLengths } from "@/solver/prediction/lengths";
import { createApplyRunner } from "../apply/applyRunner";
import { rollOutOf } from "../apply/rollOutOf";
import { planSteps } from "../steps/planSteps";
import { askCascade, planOnGpus, startTestCluster } from "../testing/testCluster";
import { switchObstacle } from "../watch/schedules";
import { uploadPredictors } from "./uploadPredictors";

const facts = Array.from({ length: 40 }, (_, row) => {
  return { instructionTokens: 0, promptTokens: row + 1, inputTokens: row + 1, workflow: "", stage: "", sketch: null };
});
const tokens = Float32Array.from(facts, ({ promptTokens }) => 10 * promptTokens);
const bytes = encodeArtefact(
  trainLengths({ prompts: 40, models: [{ model: "m", facts, requestTokens: tokens, remainingTokens: tokens }] }, { seed: 1 }),
);
const hash = createHash("sha256").update(bytes).digest("hex");
const order = { kind: "stjf", agingThreshold: 100 } as const;
const policyWith = (lengths: string): PolicyDocument => {
  return { kind: "fixed", model: "m", order, place: { kind: "least-load" }, learnt: { lengths } };
};

describe("a plan's predictors", () => {
  it("are brought to the gateway once, out of a database's bytes too, and what is kept nowhere is named", async () => {
    const cluster = await startTestCluster();
    onTestFinished(() => cluster.stop());
    const { gateway } = cluster;
    let asked = 0;
    const artefactOf = (wanted: string): Uint8Array | null => {
      asked += 1;
      return wanted === hash ? Buffer.from(bytes) : null;
    };
    for (let again = 0; again < 2; again += 1)
      expect(await uploadPredictors(policyWith(hash), { gateway, artefactOf })).toEqual({ ok: true, value: {} });
    expect(asked).toBe(1);
    const there = await gateway("/artefacts", { schema: gatewayArtefactsSchema });
    expect(there.ok && there.value.value?.artefacts).toEqual([{ hash, kind: "lengths", bytes: bytes.length, models: ["m"], used: false }]);
    expect(await uploadPredictors(policyWith("3".repeat(64)), { gateway, artefactOf })).toMatchObject({
      ok: false,
      message:
        "The plan names the predictor 333333333333, which is neither at the gateway nor kept here: train it again, or take it out of the plan.",
    });
  });

  it("come with its application, serve its requests, and are there after the gateway was killed", async () => {
    const cluster = await startTestCluster();
    onTestFinished(() => cluster.stop());
    const { connector, store, gateway } = cluster;
    const training = {
      workloadId: "w",
      workloadName: "w",
      models: ["m"],
      workflows: [],
      prompts: 40,
      texts: false,
      encoder: null,
      source: "traffic" as const,
      correlation: 0,
      requests: 40,
      emulated: true,
    };
    store.artefacts.insert(
      { hash, kind: "lengths", createdAt: "2026-01-01T00:00:00Z", actor: "ann", training, heldOut: { prompts: 1 } },
      bytes,
    );
    const { id: _, policyHash: __, ...draft } = planOnGpus("one", { "qwen2.5-3b": [1] });
    const plan = sealPlan({ ...draft, policy: { ...draft.policy, order, learnt: { lengths: hash } } }, new Date("2026-01-01T00:00:00Z"));
    store.plans.keep(plan);
    const observed = await connector.observe();
    if (!observed.ok) throw new Error(observed.message);
    const options = { signal: new AbortController().signal, report: () => undefined, planId: plan.id };
    for (const { action } of planSteps(rollOutOf(observed.value, plan, connector.emulated))) {
      expect(await connector.applyStep(action, options)).toMatchObject({ ok: true });
    }
    /** The latest record's predictions, after one more request. */
    const predictions = async () => {
      expect((await askCascade(cluster.gatewayUrl, "one")).status).toBe(200);
      const page = await gateway("/decisions", { schema: decisionPageSchema });
      return page.ok ? page.value.value?.decisions.at(-1)?.predictions : undefined;
    };
    // For a model outside of its training there is no prediction. A gateway serves while predictors are loaded.
    const served = () => vi.waitFor(async () => expect(await predictions()).toEqual({ lengths: hash, models: {} }), { timeout: 10_000 });
    await served();
    await cluster.restart("gateway");
    await served();
  });

  it("that are kept nowhere are found before a roll-out touches anything, and before a schedule's time comes", async () => {
    const cluster = await startTestCluster();
    onTestFinished(() => cluster.stop());
    const { connector, store } = cluster;
    const { id: _, policyHash: __, ...draft } = planOnGpus("lost", { "qwen2.5-3b": [1] });
    const learnt = { lengths: "3".repeat(64) };
    const plan = sealPlan({ ...draft, policy: { ...draft.policy, order, learnt } }, new Date("2026-01-01T00:00:00Z"));
    const clusterId = plan.inputs.cluster.id;
    store.clusters.insert(plan.inputs.cluster, "2026-01-01T00:00:00Z");
    store.workloads.insert({ id: "w", createdAt: "2026-01-01T00:00:00Z", name: "w" } as WorkloadSummary, Buffer.from(""));
    store.plans.keep(plan);
    store.approvals.insert({ planId: plan.id, clusterId, actor: "ann", at: "2026-01-01T00:00:00Z", reason: "" });
    const runner = createApplyRunner({ store, connectorOf: () => connector, graceMs: 0 });
    expect(await runner.start({ clusterId, planId: plan.id, kind: "apply", actor: "ann" })).toEqual({
      ok: false,
      message:
        "The plan names the predictor 333333333333, which is neither at the gateway nor kept here: train it again, or take it out of the plan.",
    });
    expect(store.applications.list(clusterId)).toEqual([]);
    expect(switchObstacle({ store, clusterOf: () => null }, clusterId, plan.id)).toMatch(
      /^lost \(\w{8}\) names the predictor 333333333333, which is not kept here any more: set the schedule with another plan\.$/,
    );
  });
});
