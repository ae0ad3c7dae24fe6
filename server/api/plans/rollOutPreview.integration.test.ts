import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createCardStore } from "@/server/cards/cardStore";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import { createEmulatorHost } from "@/server/clusters/connector/emulatorHost";
import { rollOutContext } from "@/server/clusters/preview/rollOutContext";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import type { ArtefactTraining } from "@/server/contracts/gateway/artefacts";
import { gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { Outcome } from "@/server/contracts/studio";
import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import { createPlanningService } from "@/server/planning/planningService";
import type { StoredApplication } from "@/server/store/applicationRepository";
import { heldOutOutcomes } from "@/server/workloads/heldOutOutcomes";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf, type PolicyDocument, type SlackPolicy } from "@/solver/plan/policySchema";
import { createPlanService, type PlanService } from "./planService";

const clusterId = "embedded";

describe("a roll-out before it is approved", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-preview-"));
  const signal = new AbortController().signal;
  let cluster: Awaited<ReturnType<typeof startTestCluster>>;
  let planner: Planner;
  let plans: PlanService;
  let first: Plan;
  let second: Plan;
  let simulated = 0;

  beforeAll(async () => {
    cluster = await startTestCluster({ prompts: 800 });
    planner = createPlanner();
    const { store, connector, gateway, workload, emulatorUrl, token } = cluster;
    const spec: ClusterSpec = {
      ...{ id: clusterId, name: "embedded", kind: "embedded", gpu: "l40s", usdPerGpuHour: 1 },
      nodes: [{ name: "node1", gpus: 4 }],
    };
    store.clusters.insert(spec, new Date().toISOString());
    const workloadId = storeWorkload(store, workload);
    const counting: Planner = {
      ...planner,
      serve(...asked) {
        simulated += asked[1].length;
        return planner.serve(...asked);
      },
    };
    const host = createEmulatorHost({
      emulator: createAdminClient("emulator", emulatorUrl, token),
      heldOutOutcomes: (name) => heldOutOutcomes({ ...workload, name }),
    });
    const found = { kind: "embedded", connector, host, gateway, collector: () => null, timeScale: () => 50 } as const;
    plans = createPlanService({
      store,
      clusterOf: (id) => (id === clusterId ? found : null),
      planning: createPlanningService(store, counting, createCardStore(folder)),
    });
    const solved = async (models: string[], thresholds: number[]): Promise<Plan> => {
      const answer = await planner.solve({
        ...{ workload, workloadId, cluster: spec, requestsPerSecond: 12 },
        fixed: { models, thresholds },
        objective: {
          ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 20 },
          ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 4 },
        },
      });
      if (answer.outcome !== "plan") throw new Error(answer.reason);
      store.plans.keep(answer.plan);
      return answer.plan;
    };
    [first, second] = [await solved(["qwen2.5-3b", "qwen2.5-7b"], [60]), await solved(["qwen2.5-7b"], [])];
    expect(first.topologyHash).not.toBe(second.topologyHash);
    const ground = await rollOutContext({ connector, host, gateway }, first);
    if (!ground.ok) throw new Error(ground.message);
    for (const { action } of ground.value.steps)
      expect(await connector.applyStep(action, { signal, report: () => undefined })).toMatchObject({ ok: true });
  }, 120_000);
  afterAll(async () => {
    await planner.close();
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });

  function done<Done extends object>(answer: Outcome<Done>): Done {
    if (!answer.ok) throw new Error(answer.message);
    return answer;
  }
  async function state() {
    const observed = await cluster.connector.observe();
    const config = await cluster.gateway("/config", { schema: gatewayConfigSchema });
    return { observed, config };
  }

  it("is simulated: what holds before and after, and less while GPUs change hands; looked at again it costs nothing", async () => {
    const { dip } = done(await plans.capacityDip(second.id, clusterId, signal));
    expect(dip.before?.p95Seconds).toBe(first.predictions.p95Seconds);
    expect(dip.after.p95Seconds).toBe(second.predictions.p95Seconds);
    expect(dip.requestsPerSecond).toBe(12);
    expect(dip.basis[0]).toContain("for which the plan was made");
    const capacities = dip.phases.map(({ capacityPerSecond }) => capacityPerSecond ?? 0);
    expect(Math.min(...capacities)).toBeLessThan(Math.min(dip.before?.capacityPerSecond ?? 0, dip.after.capacityPerSecond ?? 0));
    const once = simulated;
    expect(done(await plans.capacityDip(second.id, clusterId, signal)).dip).toEqual(dip);
    expect(simulated).toBe(once);
    const left = AbortSignal.abort(new Error("nobody looks"));
    await expect(plans.capacityDip(second.id, clusterId, left)).rejects.toThrow("nobody looks");
  });

  it("is predicted without a model that is lost beside the whole of it, whose figures are the plan's own", async () => {
    const ask = (lost: readonly string[], lowerMayAnswer = true) =>
      plans.remaining({ planId: first.id, clusterId, lost: [...lost], lowerMayAnswer }, signal);
    const withoutSmall = done(await ask(["qwen2.5-3b"])).remaining;
    expect(withoutSmall.requestsPerSecond).toBe(12);
    expect(withoutSmall.whole.p95Seconds).toBe(first.predictions.p95Seconds);
    expect(Math.abs((withoutSmall.whole.quality ?? 0) - first.predictions.quality)).toBeLessThan(1.5);
    expect(withoutSmall.remaining.capacityPerSecond).toBeLessThan(withoutSmall.whole.capacityPerSecond ?? 0);
    const withoutLarge = done(await ask(["qwen2.5-7b"])).remaining;
    expect(withoutLarge.remaining.refusedShare).toBe(0);
    expect(withoutLarge.remaining.quality).toBeLessThan(withoutLarge.whole.quality ?? 0);
    expect(done(await ask(["qwen2.5-7b"], false)).remaining.remaining.refusedShare).toBeGreaterThan(0);
    const nothing = done(await ask(["qwen2.5-3b", "qwen2.5-7b"])).remaining;
    expect(nothing.remaining).toMatchObject({ p95Seconds: null, quality: null, capacityPerSecond: null });
  });

  it("has files: orders of engines that come, stay and go, and the gateway's configuration on both sides", async () => {
    const { files } = done(await plans.generated(second.id, clusterId));
    const gateway = files.at(-1);
    expect(gateway).toMatchObject({ name: "gateway.json", language: "json" });
    expect(JSON.parse(gateway?.before ?? "")).toMatchObject({ planId: first.id });
    const after = gatewayConfigSchema.parse(JSON.parse(gateway?.after ?? ""));
    expect(after).toMatchObject({ planId: second.id, policyHash: second.policyHash });
    expect(after.replicas.every(({ state: is }) => is === "active")).toBe(true);
    const engines = files.slice(0, -1);
    expect(engines.some(({ before, after: then }) => before === null && then !== null)).toBe(true);
    expect(engines.some(({ before, after: then }) => before !== null && then === null)).toBe(true);
    const own = done(await plans.generated(first.id, clusterId));
    for (const { before, after: then } of own.files) expect(then).toBe(before);
  });

  it("is told against the plan it replaces until it is done, also once requests are routed by it", async () => {
    const paused: StoredApplication = {
      ...{
        id: "routed",
        clusterId,
        planId: first.id,
        previousPlanId: second.id,
        hasWayBack: true,
        kind: "apply",
        state: "paused",
        steps: [],
      },
      ...{ startedAt: new Date().toISOString(), endedAt: null, graceEndsAt: null, error: null, actor: "a", undoing: false },
      ...{ rollBackOnRegression: false, halt: null, verification: null },
    };
    cluster.store.applications.save(paused);
    const { diff } = done(await plans.diff(first.id, clusterId));
    expect(diff.againstPlanId).toBe(second.id);
    expect(diff.lines.some(({ sign }) => sign !== "=")).toBe(true);
    cluster.store.applications.save({ ...paused, state: "done", endedAt: new Date().toISOString() });
    const { diff: after } = done(await plans.diff(first.id, clusterId));
    expect(after.againstPlanId).toBe(first.id);
    expect(after.lines.every(({ sign }) => sign === "=")).toBe(true);
  });

  it("is rehearsed: every step is tried or said in words, and nothing has changed", async () => {
    const before = await state();
    const { diff } = done(await plans.diff(second.id, clusterId));
    const { steps } = done(await plans.rehearse(second.id, clusterId, signal));
    expect(steps.map(({ stepId }) => stepId)).toEqual(diff.steps.map(({ id }) => id));
    expect(steps.filter(({ ok }) => !ok)).toEqual([]);
    expect(steps.some(({ says }) => says.includes("which the gateway would serve"))).toBe(true);
    expect(await state()).toEqual(before);
  });

  it("shows in a rehearsal what the gateway would refuse", async () => {
    const { config } = await state();
    const body = config.ok ? { ...config.value.value, replicas: [] } : {};
    const refused = await cluster.gateway("/config/validate", { method: "POST", body, schema: z.unknown() });
    expect(refused.ok ? "" : refused.message).toContain("The stage qwen2.5-3b has no replica");
    const controls = { model: "qwen2.5-3b", by: "test", reason: "a test" };
    expect((await cluster.gateway("/panic", { method: "PUT", body: controls, schema: z.unknown() })).ok).toBe(true);
    const cordoned = config.ok ? (config.value.value?.replicas ?? []).map((one) => ({ ...one, state: "cordoned" })) : [];
    const held = await cluster.gateway("/config/validate", {
      method: "POST",
      body: { ...body, replicas: cordoned },
      schema: z.unknown(),
    });
    expect(held.ok ? "" : held.message).toContain("until the panic is cleared");
    expect((await cluster.gateway("/panic", { method: "DELETE", body: { by: "test", reason: "over" }, schema: z.unknown() })).ok).toBe(
      true,
    );
  });

  it("shows in a rehearsal that the gateway lacks the encoder that a predictor reads", async () => {
    const models = modelsOf(first.policy);
    const training: ArtefactTraining = {
      ...{ workloadId: "w", workloadName: "w", models, workflows: [], correlation: null, prompts: 1, requests: 1, texts: true },
      ...{ encoder: { name: "tiny", sha256: "5".repeat(64) }, source: "labelled prompts", emulated: false },
    };
    const confidence = "c".repeat(64);
    const about = { hash: confidence, kind: "confidence", createdAt: new Date(0).toISOString(), actor: "ann", training } as const;
    cluster.store.artefacts.insert({ ...about, heldOut: { prompts: 1 } }, new Uint8Array([1]));
    const policy: SlackPolicy = {
      ...{ kind: "slack", tau: 1, deltaScore: 0.1, floorSeconds: 1, order: { kind: "fcfs" }, place: { kind: "least-load" } },
      models: models.map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 10, confidence: 0.5 })),
      learnt: { confidence },
      approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
    };
    const rerouted = plans.reroute({ planId: first.id, name: "by an encoder", policy }, "ann");
    if (!rerouted.ok) throw new Error(rerouted.message);
    const { steps } = done(await plans.rehearse(rerouted.id, clusterId, signal));
    expect(steps.filter(({ ok }) => !ok).map(({ says }) => says)).toContainEqual(
      expect.stringContaining("reads embeddings of the encoder tiny 555555555555, which this gateway does not have"),
    );
  });

  it("shows in a rehearsal that a predictor which the plan names is kept nowhere any more", async () => {
    const lengths = "d".repeat(64);
    const models = modelsOf(first.policy);
    const training: ArtefactTraining = {
      ...{ workloadId: "w", workloadName: "w", models, workflows: [], correlation: 1, prompts: 1, requests: 1, texts: false },
      ...{ encoder: null, source: "modelled programs", emulated: false },
    };
    const about = { hash: lengths, kind: "lengths", createdAt: new Date(0).toISOString(), actor: "ann", training } as const;
    cluster.store.artefacts.insert({ ...about, heldOut: { prompts: 1 } }, new Uint8Array([1]));
    const policy: PolicyDocument = { ...first.policy, order: { kind: "stjf", agingThreshold: 100 }, learnt: { lengths } };
    const rerouted = plans.reroute({ planId: first.id, name: "by lengths", policy }, "ann");
    if (!rerouted.ok) throw new Error(rerouted.message);
    const refusals = async () => {
      const { steps } = done(await plans.rehearse(rerouted.id, clusterId, signal));
      return steps.flatMap(({ ok, says }) => (ok ? [] : [says]));
    };
    expect(await refusals()).toEqual([]);
    cluster.store.artefacts.remove(lengths);
    expect(await refusals()).toContainEqual(expect.stringMatching(/names the predictor dddddddddddd, which is neither at the gateway nor/));
  });

  it("is refused in a sentence for a plan, a cluster or a connection that is not there", async () => {
    expect(await plans.capacityDip("none", clusterId, signal)).toEqual({ ok: false, message: "There is no plan none." });
    expect(await plans.generated(first.id, "elsewhere")).toMatchObject({ ok: false, message: expect.stringContaining("only described") });
    expect(plans.export(first.id, clusterId, "kubernetes")).toMatchObject({
      ok: false,
      message: expect.stringContaining("has no connection"),
    });
  });
});
