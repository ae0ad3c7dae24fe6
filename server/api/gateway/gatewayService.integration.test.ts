import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { type AdminClient, createAdminClient } from "@/server/clusters/connector/adminClient";
import { createGatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import { planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import { gatewayConfigSchema, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import type { AuditOutcome, RoutingFrame, WorkloadSummary } from "@/server/contracts/studio";
import type { Serving } from "@/solver/cascade/whatIf/servingFigures";
import { createGatewayService, type GatewayService } from "./gatewayService";

const clusterId = "embedded";
const [smallModel, largeModel] = ["qwen2.5-3b", "qwen2.5-7b"] as const;
const running = planOnGpus("running", { [smallModel]: [0], [largeModel]: [1] });
const candidate = planOnGpus("candidate", { [largeModel]: [2] });
const unapproved = planOnGpus("unapproved", { [smallModel]: [3] });
const at = "2026-01-01T00:00:00.000Z";
const canary = {
  shares: [0.5, 1],
  stepSeconds: 3600,
  minRequests: 10,
  stop: { errorShare: 0.1, slow: null },
  reason: "cheaper",
};

/** A planner that predicts a latency and a quality of a threshold. */
const planning = {
  serve: async (_: unknown, { servings }: { readonly servings: readonly Serving[] }) => {
    const figures = servings.map(({ policy }) => {
      const [threshold = 0] = policy.kind === "cascade" ? policy.thresholds : [];
      const common = { unserved: [], capacityPerSecond: 9, refusedShare: 0, longestSeconds: {} };
      return { ...common, p95Seconds: threshold / 6, quality: threshold + 20.1, share: [1, 0.4] };
    });
    return { ok: true as const, figures };
  },
};

describe("the studio's hand on a real gateway", () => {
  let cluster: Awaited<ReturnType<typeof startTestCluster>>;
  let audit: ReturnType<typeof createGatewayAudit>;
  let service: GatewayService;
  let routing: RoutingFrame | null = null;
  const collector = { routing: () => routing, frames: () => [] };
  const planned = { planning, clusterOf: () => ({ collector: () => collector as never }) };
  beforeAll(async () => {
    cluster = await startTestCluster();
    const { store, gateway } = cluster;
    store.clusters.insert({ ...running.inputs.cluster, id: clusterId, kind: "embedded" }, at);
    store.workloads.insert({ id: "w", createdAt: at, name: "w" } as WorkloadSummary, Buffer.from(""));
    for (const plan of [running, candidate, unapproved]) store.plans.keep(plan);
    for (const plan of [running, candidate]) store.approvals.insert({ planId: plan.id, clusterId, actor: "a", at, reason: "" });
    const runner = createApplyRunner({ store, connectorOf: () => cluster.connector, graceMs: 0 });
    const started = await runner.start({ clusterId, planId: running.id, kind: "apply", actor: "ada" });
    if (!started.ok) throw new Error(started.message);
    while (store.applications.get(started.application.id)?.state !== "done") await new Promise((wake) => setTimeout(wake, 20));
    await runner.close();
    audit = createGatewayAudit({ store, clusterId, gateway });
    const controlled = { admin: gateway, audit, look: async () => undefined, models: () => null };
    service = createGatewayService({ ...planned, store, gatewayOf: (id) => (id === clusterId ? controlled : null) });
  }, 60_000);
  afterAll(async () => {
    audit.close();
    await cluster.stop();
  });
  let before = 0;
  beforeEach(async () => {
    await audit.take();
    before = cluster.store.audit.list(1000).length;
  });

  /** Audit lines since the test began, oldest first, the studio's own and the gateway's. */
  const lines = async () => {
    await audit.take();
    const all = cluster.store.audit.list(1000);
    return all.slice(0, all.length - before);
  };
  const noted = async (of: AuditOutcome = "done") =>
    (await lines()).filter(({ outcome }) => outcome === of).map(({ actor, action }) => `${actor}: ${action}`);
  const configuration = async () => {
    const answer = await cluster.gateway("/config", { schema: gatewayConfigSchema });
    if (!answer.ok || answer.value.value === null) throw new Error("no configuration");
    return { config: answer.value.value, etag: answer.value.etag?.replaceAll('"', "") ?? "" };
  };
  const controls = async () => {
    const answer = await cluster.gateway("/status", { schema: gatewayStatusSchema });
    return answer.ok ? answer.value.value?.controls : undefined;
  };
  const sentence = (outcome: { readonly ok: boolean; readonly message?: string }) => (outcome.ok ? "done" : outcome.message);

  it("names the models that can take all requests, by their engines at work", async () => {
    expect(await service.models(clusterId)).toEqual({
      ok: true,
      models: [
        { model: smallModel, engines: 1 },
        { model: largeModel, engines: 1 },
      ],
    });
  });

  it("panics and lifts in the operator's name, noted by the studio and by the gateway, each once", async () => {
    expect(await service.panic(clusterId, { model: largeModel, reason: "bad answers" }, "ada")).toEqual({ ok: true });
    expect((await controls())?.panic).toMatchObject({ model: largeModel, by: "ada", reason: "bad answers" });
    expect(await service.clearPanic(clusterId, "mended", "grace")).toEqual({ ok: true });
    expect((await controls())?.panic).toBeNull();
    expect((await noted()).sort()).toEqual(["ada: order panic", "ada: panic", "grace: order end of panic", "grace: panic lifted"]);
  });

  it("passes on why the gateway refuses, and notes the refused attempts alone", async () => {
    expect(sentence(await service.panic(clusterId, { model: "nobody", reason: "r" }, "ada"))).toMatch(/409: .*nobody/);
    expect(sentence(await service.clearPanic(clusterId, "", "ada"))).toMatch(/404: There is no panic/);
    expect(await noted()).toEqual([]);
    expect(await noted("refused")).toEqual(["ada: order end of panic", "ada: order panic"]);
    expect((await lines())[0]).toMatchObject({ objectKind: "gateway", clusterId, detail: expect.stringContaining("There is no panic") });
  });

  it("turns a knob inside its approved range, and only from the configuration that was seen", async () => {
    const { etag, config } = await configuration();
    const turned = await service.setControls(clusterId, { etag, thresholds: [66], reason: "too many escalations" }, "ada");
    const now = await configuration();
    expect(turned).toEqual({ ok: true, policyHash: now.config.policyHash });
    expect(now.config.policyHash).not.toBe(config.policyHash);
    expect(now.config.policy).toMatchObject({ thresholds: [66] });
    expect(sentence(await service.setControls(clusterId, { etag, thresholds: [55], reason: "" }, "ada"))).toMatch(/412: .*has changed/);
    expect(sentence(await service.setControls(clusterId, { etag: now.etag, thresholds: [71], reason: "" }, "ada"))).toMatch(/400: .*70/);
    expect((await noted()).sort()).toEqual(["ada: knobs turned", "ada: order knobs"]);
  });

  it("signs no knobs for a gateway that shows a plan that is not approved, is not stored, or has another policy", async () => {
    const { config } = await configuration();
    const wide = { ...config.policy, approvedRanges: { thresholds: [{ min: 0, max: 100 }] } } as typeof config.policy;
    const claims: readonly [Partial<typeof config>, RegExp][] = [
      [{ policy: wide, policyHash: policyHash(wide) }, /^The gateway's policy is not the one of running/],
      [{ planId: unapproved.id, policy: unapproved.policy, policyHash: unapproved.policyHash }, /is not approved on this cluster/],
      [{ planId: "f".repeat(64) }, /^The gateway's plan ffffffff is not stored in this studio/],
    ];
    for (const [claim, refusal] of claims) {
      const changes: unknown[] = [];
      const admin: AdminClient = async (path, { schema, ...request }) => {
        if (request.method === "PATCH") changes.push(request.parts);
        const value = path === "/config" ? { ...config, ...claim } : {};
        return { ok: true, value: { status: 200, etag: '"e"', value: schema.parse(value) } };
      };
      const lying = { admin, audit, look: async () => undefined, models: () => null };
      const misled = createGatewayService({ ...planned, store: cluster.store, gatewayOf: () => lying });
      const order = { etag: "e", thresholds: [90], reason: "" };
      const answer = await misled.setControls(clusterId, order, "ada");
      expect(changes).toEqual([]);
      expect(sentence(answer)).toMatch(refusal);
    }
    expect(await noted("refused")).toEqual(["ada: order knobs", "ada: order knobs", "ada: order knobs"]);
  });

  it("keeps a change with the forecast that was shown of it, and the change back with the same the other way round", async () => {
    const setTo = async (threshold: number, reason: string) => {
      const { etag } = await configuration();
      const done = await service.setControls(clusterId, { etag, thresholds: [threshold], reason }, "ana");
      if (!done.ok) throw new Error(done.message);
      return { policyHash: done.policyHash, detail: cluster.store.audit.list(10).find(({ action }) => action === "order knobs")?.detail };
    };
    const first = await setTo(58, "");
    expect(first.detail).toBe("thresholds 66 → 58");
    expect(cluster.store.controlChanges.last(clusterId)).toMatchObject({
      from: { thresholds: [66] },
      to: { thresholds: [58] },
      forecast: null,
    });
    const { config, etag } = await configuration();
    routing = { etag, planId: running.id, policyHash: config.policyHash, policy: config.policy, controls: null };
    const answer = await service.forecastControls(clusterId, { thresholds: [66] }, new AbortController().signal);
    if (!answer.ok) throw new Error(answer.message);
    const { forecast } = answer;
    const up = await setTo(66, "too many complaints");
    expect(up.detail).toBe("thresholds 58 → 66; forecast p95 11.0 s, quality 86.1; too many complaints");
    expect(cluster.store.controlChanges.last(clusterId)).toMatchObject({
      ...{ actor: "ana", planId: running.id, reason: "too many complaints", hashBefore: first.policyHash, hashAfter: up.policyHash },
      forecast,
    });
    const back = await setTo(58, "put back");
    expect(back.policyHash).toBe(first.policyHash);
    expect(back.detail).toBe("thresholds 66 → 58; forecast p95 9.67 s, quality 78.1; put back");
    const undone = cluster.store.controlChanges.last(clusterId);
    expect(undone?.forecast).toMatchObject({ inForce: forecast.changed, changed: forecast.inForce });
    const now = await configuration();
    expect(await service.setControls(clusterId, { etag: now.etag, thresholds: [71], reason: "" }, "ana")).toMatchObject({ ok: false });
    expect(cluster.store.controlChanges.last(clusterId)).toEqual(undone);
    const stale = await service.forecastControls(
      clusterId,
      { policyHash: up.policyHash ?? "", thresholds: [60] },
      new AbortController().signal,
    );
    expect(sentence(stale)).toBe("Another policy came into force: choose the values again.");
  });

  it("captures prompts, tells what is kept, and ends and erases it", async () => {
    const redactions = { builtIn: ["email"], own: [] } as const;
    const order = { share: 0.5, keys: ["*"], redactions, retentionDays: 3, mostBytes: 1_000_000, reason: "a sample" };
    expect(await service.startCapture(clusterId, { ...order, keys: ["eve"] }, "ada")).toMatchObject({ ok: false });
    expect(await service.startCapture(clusterId, order, "ada")).toEqual({ ok: true });
    const running = { share: 0.5, keys: ["*"], by: "ada", redactions };
    expect(await service.capture(clusterId)).toMatchObject({ ok: true, capture: { keyNames: null, running, files: { prompts: 0 } } });
    expect((await controls())?.capture?.running).toMatchObject(running);
    expect(await service.endCapture(clusterId, "", "ada")).toEqual({ ok: true });
    expect(sentence(await service.eraseCapture(clusterId, "", "ada"))).toContain(
      "No capture is running, and no captured prompts are stored.",
    );
    const acts = ["capture ended", "capture started", "order capture", "order end of capture"];
    expect([...(await noted())].sort()).toEqual(acts.map((action) => `ada: ${action}`));
    const ordered = (await lines()).find(({ action, outcome }) => action === "order capture" && outcome === "done");
    expect(ordered?.detail).toBe("50 % of requests of everybody, without email, for 3 days; a sample");
    expect(await service.capture("nowhere")).toMatchObject({ ok: false, message: expect.stringContaining("not connected") });
  });

  it("has the gateway forget what calls taught of workflows, noted by the studio and by the gateway", async () => {
    expect(await service.forgetWorkflows(clusterId, "other applications", "ada")).toEqual({ ok: true });
    expect((await noted()).sort()).toEqual(["ada: order forgetting of workflows", "ada: workflows forgotten"]);
  });

  it("shadows any kept plan whose models have engines, and mirrors a share", async () => {
    expect(await service.startShadow(clusterId, { planId: running.id, reason: "" }, "ada")).toEqual({ ok: true });
    expect((await controls())?.shadow).toMatchObject({ candidate: { planId: running.id, policyHash: running.policyHash } });
    expect(await service.endShadow(clusterId, "", "ada")).toEqual({ ok: true });
    expect(await service.startMirror(clusterId, { share: 0.5, maxInFlight: 2, reason: "" }, "ada")).toEqual({ ok: true });
    expect((await controls())?.mirror).toMatchObject({ share: 0.5, maxInFlight: 2, by: "ada" });
    expect(await service.endMirror(clusterId, "", "ada")).toEqual({ ok: true });
    expect(sentence(await service.startShadow(clusterId, { planId: "f".repeat(64), reason: "" }, "ada"))).toMatch(/There is no plan/);
    expect(await noted()).toHaveLength(8);
  });

  it("starts a canary of an approved plan only", async () => {
    expect(sentence(await service.startCanary(clusterId, { ...canary, planId: unapproved.id }, "ada"))).toMatch(/is not approved/);
    expect(await lines()).toMatchObject([{ action: "order canary", outcome: "refused", objectId: unapproved.id }]);
    expect(await service.startCanary(clusterId, { ...canary, planId: candidate.id }, "ada")).toEqual({ ok: true });
    expect((await controls())?.canary).toMatchObject({ state: "running", step: 0, candidate: { planId: candidate.id } });
    expect(await service.stopCanary(clusterId, "enough", "ada")).toEqual({ ok: true });
    expect((await controls())?.canary?.state).not.toBe("running");
    expect(await noted()).toContain("ada: canary started");
  });

  it("says what is not there: a gateway on a described cluster, and one that does not answer", async () => {
    const nowhere = createAdminClient("gateway", "http://127.0.0.1:9", "t");
    const silent = createGatewayAudit({ store: cluster.store, clusterId, gateway: nowhere });
    const lost = createGatewayService({
      ...{ ...planned, store: cluster.store },
      gatewayOf: () => ({ admin: nowhere, audit: silent, look: async () => undefined, models: () => null }),
    });
    expect(sentence(await lost.panic(clusterId, { model: largeModel, reason: "r" }, "ada"))).toMatch(
      /^The gateway at http:\/\/127\.0\.0\.1:9 cannot be reached \(.+\)\. On the gateway's machine: weir panic qwen2\.5-7b --reason WHY$/,
    );
    const ofAnother = createGatewayService({
      ...{ ...planned, store: cluster.store },
      gatewayOf: () => ({ admin: nowhere, adminUrl: "http://127.0.0.1:9", audit: silent, look: async () => undefined, models: () => null }),
    });
    expect(sentence(await ofAnother.clearPanic(clusterId, "", "ada"))).toMatch(
      /On the gateway's machine: WEIR_GATEWAY_ADMIN_URL=http:\/\/127\.0\.0\.1:9 weir panic --clear$/,
    );
    expect(sentence(await service.clearPanic("described", "", "ada"))).toBe("This cluster is not connected: it has no gateway to ask.");
    silent.close();
    expect(await noted()).toEqual([]);
  });

  it("changes no routing while a plan is applied, save by a panic", async () => {
    const runner = createApplyRunner({ store: cluster.store, connectorOf: () => cluster.connector, graceMs: 3_600_000 });
    const started = await runner.start({ clusterId, planId: candidate.id, kind: "apply", actor: "ada" });
    if (!started.ok) throw new Error(started.message);
    const { id } = started.application;
    const busy = `Plan ${candidate.id.slice(0, 8)} is being applied: wait for its end, or abort it.`;
    const { etag } = await configuration();
    expect(sentence(await service.setControls(clusterId, { etag, thresholds: [60], reason: "" }, "ada"))).toBe(busy);
    expect(sentence(await service.rollBack(clusterId, { etag, reason: "" }, "ada"))).toBe(busy);
    expect(sentence(await service.startCanary(clusterId, { ...canary, planId: candidate.id }, "ada"))).toBe(busy);
    expect(await service.panic(clusterId, { model: largeModel, reason: "r" }, "ada")).toEqual({ ok: true });
    expect(await service.clearPanic(clusterId, "", "ada")).toEqual({ ok: true });
    runner.abort(id, "ada");
    while (cluster.store.applications.get(id)?.state !== "aborted") await new Promise((wake) => setTimeout(wake, 20));
    await runner.close();
    expect(await service.setControls(clusterId, { etag, thresholds: [60], reason: "" }, "ada")).toMatchObject({ ok: true });
  });

  it("answers an order before its lines of audit are taken and the pages are told", async () => {
    const never = new Promise<void>(() => undefined);
    const slow = createGatewayService({
      ...{ ...planned, store: cluster.store },
      gatewayOf: () => ({
        admin: cluster.gateway,
        audit: { take: () => never, close: () => undefined },
        look: () => never,
        models: () => null,
      }),
    });
    expect(await slow.panic(clusterId, { model: largeModel, reason: "r" }, "ada")).toEqual({ ok: true });
    expect(await slow.clearPanic(clusterId, "", "ada")).toEqual({ ok: true });
  });

  it("of a gateway that hangs, names the models it knew, and says within seconds that an order may have taken effect", async () => {
    const models = [{ model: largeModel, engines: 1 }];
    const hasty = createGatewayService({
      ...{ ...planned, store: cluster.store },
      gatewayOf: () => ({ admin: cluster.gateway, audit, look: async () => undefined, models: () => models }),
    });
    cluster.freezeGateway();
    try {
      expect(await hasty.models(clusterId)).toEqual({ ok: true, models });
      const beganMs = performance.now();
      const [ordered, observed] = await Promise.all([
        hasty.panic(clusterId, { model: largeModel, reason: "bad answers" }, "ada"),
        cluster.connector.observe(),
      ]);
      expect(performance.now() - beganMs).toBeLessThan(9_000);
      expect(sentence(ordered)).toMatch(
        /did not answer within 5 s\. It may have taken effect: .+ On the gateway's machine: weir panic qwen2\.5-7b --reason WHY$/,
      );
      expect(observed.ok ? "up" : observed.message).toMatch(/^The gateway at .+ did not answer within 4 s\.$/);
      expect(cluster.store.audit.list(1)).toMatchObject([
        { action: "order panic", detail: "bad answers; the gateway did not answer in time: it may have taken effect" },
      ]);
    } finally {
      cluster.thawGateway();
    }
    // The request had been waiting there all the time.
    await vi.waitFor(async () => expect((await controls())?.panic).toMatchObject({ model: largeModel, reason: "bad answers" }), 10_000);
    expect(await service.clearPanic(clusterId, "", "ada")).toEqual({ ok: true });
  }, 60_000);
});
