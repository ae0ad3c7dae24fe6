import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importAndApprove } from "@/server/api/testing/importAndApprove";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { askCascade, planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import type { LiveFrame } from "@/server/contracts/studio";
import { studioSettings } from "@/server/lib/studioSettings";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createRuntime, type Runtime } from "@/server/runtime";
import type { Plan } from "@/solver/plan/plan";
import { embeddedClusterId } from "./fleet";

const until = async <Value>(look: () => Value | Promise<Value> | null | undefined | false): Promise<Value> => {
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value;
    await new Promise((wake) => setTimeout(wake, 50));
  }
};

const spec = { gpu: "l40s", nodes: [{ name: "a", gpus: 1 }], usdPerGpuHour: 0 };
const signal = new AbortController().signal;
const options = { signal, report: () => undefined };

/**
 * Two emulators and two gateways: the studio runs one pair as its embedded cluster, and uses the engines and the gateway of the other by
 * their addresses.
 */
describe("clusters beside each other", () => {
  let embedded: Awaited<ReturnType<typeof startTestCluster>>;
  let other: Awaited<ReturnType<typeof startTestCluster>>;
  let runtime: Runtime;
  const attachedId = randomUUID();
  const brokenId = randomUUID();
  const alone = randomUUID();
  const locked = randomUUID();
  /** Uses a model that the embedded cluster does not run. */
  const attachedPlan = planOnGpus("attached", { "qwen2.5-7b": [0] }, "a");

  beforeAll(async () => {
    [embedded, other] = await Promise.all([startTestCluster(), startTestCluster({ signed: false })]);
    const [engine] = targetEngines(planOnGpus("there", { "qwen2.5-7b": [0] }));
    if (engine === undefined) throw new Error("The plan has no engine.");
    for (const action of [{ kind: "load-outcomes", workloadId: "w" } as const, { kind: "start", engine } as const]) {
      expect(await other.connector.applyStep(action, options)).toMatchObject({ ok: true });
    }
    const seen = await other.connector.observe();
    const url = seen.ok ? (seen.value.engines[0]?.url ?? "") : "";
    const endpoint = { name: "a", url, model: "qwen2.5-7b", gpu: "l40s", precision: "bf16" };
    const { clusters } = embedded.store;
    const at = new Date().toISOString();
    const gateway = { runBy: "operator", url: other.gatewayUrl, adminUrl: other.gatewayAdminUrl } as const;
    const attached = { connection: { kind: "endpoints", endpoints: [endpoint] }, gateway };
    clusters.insert({ ...spec, id: attachedId, name: "attached", kind: "endpoints" }, at, attached);
    const broken = { connection: { kind: "endpoints", endpoints: [{ ...endpoint, url: "not an address" }] }, gateway };
    clusters.insert({ ...spec, id: brokenId, name: "broken", kind: "endpoints" }, at, broken);
    const beside = { runBy: "studio", port: 9, adminPort: 9 } as const;
    clusters.insert({ ...spec, id: alone, name: "alone", kind: "endpoints" }, at, { ...attached, gateway: beside });
    const token = { environment: "WEIR_ENGINE_NOT_THERE" };
    clusters.insert({ ...spec, id: locked, name: "locked", kind: "endpoints" }, at, { ...attached, gateway: { ...gateway, token } });
    runtime = createRuntime(studioSettings(embedded.environment));
  }, 60_000);
  afterAll(async () => {
    await runtime.close();
    await Promise.all([embedded.stop(), other.stop()]);
  });

  const summary = (id: string) => runtime.services.clusters.list().find((cluster) => cluster.spec.id === id);

  async function apply(sealed: Plan, clusterId: string): Promise<void> {
    const { plans, applications } = runtime.services;
    const plan = await importAndApprove(plans, sealed, clusterId);
    const request = { planId: plan.id, clusterId, expectedRunningPlanId: null, rollBackOnRegression: false };
    const started = await applications.start(request, "a");
    if (!started.ok) throw new Error(started.message);
    const done = await until(() => {
      const application = applications.get(started.application.id);
      return application?.endedAt ? application : null;
    });
    expect(done.error).toBeNull();
  }

  async function frameWhere(clusterId: string, holds: (frame: LiveFrame) => boolean): Promise<LiveFrame> {
    for await (const frame of runtime.services.live.follow({ clusterId, afterMs: 0, signal })) if (holds(frame)) return frame;
    throw new Error("the collector closed");
  }

  it("are all found at the start, with their own gateway, prices and topology", async () => {
    await until(() => [embeddedClusterId, attachedId].every((id) => summary(id)?.health.state === "up"));
    expect(summary(embeddedClusterId)).toMatchObject({
      gatewayUrl: embedded.gatewayUrl,
      topology: "planned",
      emulated: true,
      timeScale: 50,
    });
    expect(summary(attachedId)).toMatchObject({ gatewayUrl: other.gatewayUrl, topology: "given", emulated: false, timeScale: 1 });
    expect(summary(attachedId)?.spec.usdPerGpuHour).toBe(summary(embeddedClusterId)?.spec.usdPerGpuHour);
  }, 20_000);

  it("say of a connection that cannot be used why, and go on with the others", () => {
    expect(summary(brokenId)).toMatchObject({
      health: { state: "down", reason: expect.stringContaining("endpoints.0.url") },
      gatewayUrl: null,
    });
  });

  it("say how a gateway is started that nobody runs, and whose token is not to be found", async () => {
    const reason = (id: string) => summary(id)?.health.reason ?? "";
    await until(() => [alone, locked].every((id) => reason(id).startsWith("The gateway")));
    const stateDir = embedded.environment.WEIR_STATE_DIR;
    const places = `WEIR_GATEWAY_PORT=9 WEIR_GATEWAY_ADMIN_PORT=9 WEIR_STATE_DIR=${join(stateDir, "clusters", alone)}`;
    const trust = `WEIR_CLUSTER_ID=${alone} WEIR_STUDIO_PUBLIC_KEY=${join(stateDir, "studio-key.pub")}`;
    expect(reason(alone)).toContain(`${places} ${trust} node dist/gateway.mjs`);
    expect(reason(locked)).toBe(
      `The gateway at ${other.gatewayAdminUrl} is not asked: The key's variable WEIR_ENGINE_NOT_THERE is not set.`,
    );
  }, 20_000);

  it("take plans, requests and measurements apart", async () => {
    const drafted = planOnGpus("embedded", { "qwen2.5-3b": [0] });
    const workload = { ...drafted.inputs.workload, id: runtime.services.workloads.list()[0]?.id ?? "" };
    const embeddedPlan = sealPlan({ ...drafted, inputs: { ...drafted.inputs, workload } }, new Date());
    await Promise.all([apply(embeddedPlan, embeddedClusterId), apply(attachedPlan, attachedId)]);
    for (let request = 0; request < 3; request += 1) expect((await askCascade(other.gatewayUrl, "attached")).status).toBe(200);
    expect((await askCascade(embedded.gatewayUrl, "embedded")).status).toBe(200);

    const heard = (count: number, plan: Plan) => (frame: LiveFrame) =>
      frame.planId === plan.id && frame.measured.requests === count && frame.engines.every(({ state }) => state === "fresh");
    const [here, there] = [
      await frameWhere(embeddedClusterId, heard(1, embeddedPlan)),
      await frameWhere(attachedId, heard(3, attachedPlan)),
    ];
    expect(here).toMatchObject({ clusterId: embeddedClusterId, engines: [{ model: "qwen2.5-3b" }] });
    expect(there).toMatchObject({ clusterId: attachedId, engines: [{ model: "qwen2.5-7b" }] });
    expect(here.engines).toHaveLength(1);
    expect(there.engines).toHaveLength(1);

    const { live } = runtime.services;
    const subjects = (id: string) => live.subjects(id, Date.now() - 60_000, Date.now());
    expect(await subjects(attachedId)).toContain("stage:qwen2.5-7b");
    expect(await subjects(attachedId)).not.toContain("stage:qwen2.5-3b");
    expect(await subjects(embeddedClusterId)).not.toContain("stage:qwen2.5-7b");
    const decisions = { outcome: "answered", model: null, replica: null, slowerThanSeconds: null, text: null } as const;
    for await (const { event } of live.stream({ clusterId: attachedId, topics: { charts: null, decisions } }, signal)) {
      if (event.kind !== "decisions") continue;
      expect(event.matched).toBe(3);
      break;
    }
    expect(live.plans(attachedId, 0, Date.now())).toMatchObject([{ planId: attachedPlan.id }]);
    const { text } = await runtime.metrics();
    for (const cluster of [embeddedClusterId, attachedId])
      expect(text).toContain(`weir_studio_targets{cluster="${cluster}",kind="engine",state="fresh"} 1`);
  }, 90_000);

  it("are down each for itself", async () => {
    other.freezeGateway();
    try {
      await until(() => summary(attachedId)?.health.state === "down");
      expect(summary(embeddedClusterId)?.health.state).toBe("up");
    } finally {
      other.thawGateway();
    }
    await until(() => summary(attachedId)?.health.state === "up");
  }, 30_000);
});
