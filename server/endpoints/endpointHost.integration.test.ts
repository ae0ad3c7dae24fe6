import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import { createConnector } from "@/server/clusters/connector/clusterConnector";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import { startGateway } from "@/server/gateway/gateway";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { openStore } from "@/server/store/store";
import type { ModelDeployment, Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { type AttachedEngine, attachedEngines } from "./attachedEngines";
import { connectionSchema, type EndpointConnectionInput } from "./connection";
import { createEndpointHost } from "./endpointHost";
import { givenTopologyContract } from "./testing/givenTopologyContract";
import { startTestEndpoint } from "./testing/testEndpoints";

/** A plan of one stage of `small` over engines of one GPU on these nodes. */
function planOver(name: string, nodes: readonly string[]): Plan {
  const draft = examplePlanDraft();
  const placements = nodes.map((node) => [{ node, gpus: [0] }]);
  const replicas = [{ tp: 1, pp: 1, count: nodes.length, shareEach: 1 / nodes.length, placements }];
  const deployment: ModelDeployment[] = [{ model: "small", precision: "bf16", gpu: "l40s", gpus: nodes.length, replicas }];
  const policy = { ...draft.policy, stages: [{ model: "small" }], thresholds: [], approvedRanges: { thresholds: [] } };
  return sealPlan({ ...draft, metadata: { name }, deployment, policy }, new Date("2026-01-01T00:00:00Z"));
}

async function startCluster(verifyMs = 3_000) {
  const state = mkdtempSync(join(tmpdir(), "weir-gateway-"));
  const gateway = await startGateway({
    ...{ dataPort: 0, adminPort: 0, stateDirectory: state, adminToken: null, studio: null, log: pino({ level: "silent" }) },
    limits: { drainSeconds: 0.2 },
  });
  // One with a key, one with its own model name: the cluster's gateway must get both.
  vi.stubEnv("WEIR_ENGINE_A", "sk-engine-a");
  const engines = [
    await startTestEndpoint({ key: "sk-engine-a", models: ["small"], answerMs: 20 }),
    await startTestEndpoint({ models: ["org/Small-3B-Instruct", "other"], answerMs: 20 }),
  ];
  const [a, b] = engines.map(({ url }) => url) as [string, string];
  const common = { model: "small", gpu: "l40s", precision: "bf16" } as const;
  const input: EndpointConnectionInput = {
    kind: "endpoints",
    endpoints: [
      { ...common, name: "a", url: a, key: { environment: "WEIR_ENGINE_A" } },
      { ...common, name: "b", url: b, servedName: "org/Small-3B-Instruct" },
    ],
  };
  const connection = connectionSchema.parse(input);
  const leaveKeys = enterTestKeys([{ key: { environment: "WEIR_ENGINE_A" }, url: a }]);
  const plans = [planOver("whole", ["a", "b"]), planOver("part", ["a"]), planOver("stranger", ["a", "c"])] as const;
  const [whole, part, stranger] = plans;
  const connector = createConnector({
    host: createEndpointHost(connection),
    gateway: createAdminClient("gateway", gateway.adminUrl, ""),
    planOf: (id) => plans.find((plan) => plan.id === id) ?? null,
    loadLimitMs: verifyMs,
  });
  return {
    ...{ connector, connection, whole, part, stranger, engines, gateway },
    async ask() {
      const body = JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: "hello" }], max_tokens: 1 });
      const headers = { "content-type": "application/json", authorization: "Bearer of-the-client" };
      const answer = await fetch(`${gateway.dataUrl}/v1/chat/completions`, { method: "POST", headers, body });
      await answer.text();
      return answer.status;
    },
    async alive() {
      const up = await Promise.all(engines.map(async ({ url }) => (await fetch(`${url}/health`)).ok));
      return attachedEngines(connection)
        .flatMap(({ id }, index) => (up[index] ? [id] : []))
        .sort();
    },
    async stop() {
      await gateway.close();
      await Promise.all(engines.map((engine) => engine.close()));
      rmSync(state, { recursive: true });
      leaveKeys();
      vi.unstubAllEnvs();
    },
  };
}

givenTopologyContract("endpoints", () => startCluster());

describe("a cluster of endpoints", () => {
  it("gives each engine its own key and its own name for the model, and keeps the key out of what the gateway tells", async () => {
    const cluster = await startCluster();
    const { signal } = new AbortController();
    const active = attachedEngines(cluster.connection).map(({ id }) => id);
    const routing = { planId: cluster.whole.id, active, cordoned: [] };
    expect(await cluster.connector.applyStep({ kind: "switch-policy", routing }, { signal, report: () => undefined })).toMatchObject({
      ok: true,
    });
    expect(await Promise.all(Array.from({ length: 12 }, () => cluster.ask()))).toEqual(Array(12).fill(200));
    const [a, b] = cluster.engines;
    expect(new Set(a?.asked.map(({ model, authorization }) => `${model} ${authorization}`))).toEqual(new Set(["small Bearer sk-engine-a"]));
    expect(new Set(b?.asked.map(({ model }) => model))).toEqual(new Set(["org/Small-3B-Instruct"]));
    expect(JSON.stringify(b?.asked)).not.toContain("sk-engine-a");
    const config = await (await fetch(`${cluster.gateway.adminUrl}/config`)).text();
    expect(config).toContain("WEIR_ENGINE_A");
    expect(config).not.toContain("sk-engine-a");
    await cluster.stop();
  });

  it("neither starts nor stops an engine, and says whose it is", async () => {
    const endpoints = [{ name: "a", url: "http://127.0.0.1:9", model: "small", gpu: "l40s", precision: "bf16" } as const];
    const connection = connectionSchema.parse({ kind: "endpoints", endpoints });
    const host = createEndpointHost(connection);
    const options = { signal: new AbortController().signal, report: () => undefined };
    const [{ endpoint: _, ...order }] = attachedEngines(connection) as [AttachedEngine];
    expect(await host.start(order, options)).toEqual({ ok: true, value: "is run by its operator" });
    expect(await host.stop(order.id, options)).toEqual({
      ok: false,
      message: `${order.id} is run by its operator: Weir does not stop it.`,
    });
    expect(await host.stop("gone", options)).toMatchObject({ ok: true });
  });

  it("says in a sentence why an engine cannot be routed to, and keeps it in the picture", async () => {
    const cluster = await startCluster(50);
    const { signal } = new AbortController();
    const [a] = attachedEngines(cluster.connection);
    const verify = () =>
      cluster.connector.applyStep({ kind: "verify", engineId: a!.id, model: "small" }, { signal, report: () => undefined });
    expect(await verify()).toMatchObject({ ok: true, value: expect.stringMatching(/^healthy, model listed, one token in \d+ ms$/) });
    cluster.engines[0]!.is.key = "sk-another";
    const refused = await verify();
    expect(refused).toMatchObject({ ok: false, message: expect.stringContaining("It refuses the key (401).") });
    expect(JSON.stringify(refused)).not.toContain("sk-");
    await cluster.engines[0]!.close();
    expect(await verify()).toMatchObject({ ok: false, message: expect.stringMatching(/: Nothing listens at 127\.0\.0\.1:\d+\./) });
    const observed = await cluster.connector.observe();
    expect(observed.ok && observed.value.engines.map(({ id }) => id)).toContain(a!.id);
    await cluster.stop();
  });

  it("takes a plan from the apply runner, keeps the one before in force when an engine cannot be verified, and refuses what does not fit", async () => {
    const cluster = await startCluster(50);
    const { whole, part, stranger, connector } = cluster;
    const state = mkdtempSync(join(tmpdir(), "weir-store-"));
    const store = openStore(state);
    const at = "2026-01-01T00:00:00.000Z";
    store.clusters.insert({ ...whole.inputs.cluster, id: "attached", kind: "described" }, at);
    for (const plan of [whole, part, stranger]) {
      store.plans.keep(plan);
      store.approvals.insert({ planId: plan.id, clusterId: "attached", actor: "a", at, reason: "" });
    }
    const runner = createApplyRunner({ store, connectorOf: () => connector, graceMs: 0 });
    const start = (planId: string) => runner.start({ clusterId: "attached", planId, kind: "apply", actor: "a" });
    const apply = async (planId: string) => {
      const started = await start(planId);
      if (!started.ok) throw new Error(started.message);
      const settled = ["done", "failed", "paused", "rolled-back"];
      await vi.waitFor(() => expect(settled).toContain(store.applications.get(started.application.id)?.state), 20_000);
      return store.applications.get(started.application.id);
    };
    expect(await start(stranger.id)).toMatchObject({ ok: false, message: expect.stringContaining("plan with the topology frozen") });
    expect((await apply(part.id))?.state).toBe("done");
    cluster.engines[1]!.is.models = ["other"];
    const halted = await apply(whole.id);
    expect(halted).toMatchObject({
      state: "paused",
      halt: { because: "step", sentence: expect.stringContaining("It does not serve org/Small-3B-Instruct but other.") },
    });
    expect(store.clusters.get("attached")?.runningPlanId).toBe(part.id);
    expect(await cluster.ask()).toBe(200);
    cluster.engines[1]!.is.models = ["org/Small-3B-Instruct"];
    expect(runner.resume(halted?.id ?? "", "a")).toMatchObject({ ok: true });
    await vi.waitFor(() => expect(store.applications.get(halted?.id ?? "")?.state).toBe("done"), 20_000);
    expect(store.clusters.get("attached")?.runningPlanId).toBe(whole.id);
    expect(JSON.stringify(halted) + JSON.stringify(store.audit.list(100))).not.toContain("sk-engine-a");
    await runner.close();
    store.close();
    rmSync(state, { recursive: true });
    await cluster.stop();
  });
});
