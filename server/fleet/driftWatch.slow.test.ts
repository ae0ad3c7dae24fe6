import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importAndApprove } from "@/server/api/testing/importAndApprove";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { DriftLine } from "@/server/contracts/studio";
import { studioSettings } from "@/server/lib/studioSettings";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createRuntime, type Runtime } from "@/server/runtime";
import type { Plan } from "@/solver/plan/plan";
import { embeddedClusterId } from "./fleet";

const until = async <Value>(look: () => Value | Promise<Value> | null | undefined | false): Promise<Value> => {
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value;
    await new Promise((wake) => setTimeout(wake, 100));
  }
};

const headers = { authorization: "Bearer test-token", "content-type": "application/json" };

/** Longer than two looks of the watch, so that any automatic correction would happen. */
const aWhileMs = 5_000;

describe("what somebody changes beside the studio", { timeout: 60_000 }, () => {
  let cluster: Awaited<ReturnType<typeof startTestCluster>>;
  let runtime: Runtime;
  let plan: Plan;
  beforeAll(async () => {
    cluster = await startTestCluster({ signed: false });
    runtime = createRuntime(studioSettings(cluster.environment));
    await until(() => runtime.services.clusters.list()[0]?.health.state === "up");
    const drafted = planOnGpus("drifting", { "qwen2.5-3b": [0, 1], "qwen2.5-7b": [2] });
    const workload = { ...drafted.inputs.workload, id: runtime.services.workloads.list()[0]?.id ?? "" };
    const hardware = { ...drafted.inputs.cluster, nodes: [{ name: "node1", gpus: 4 }] };
    const sealed = sealPlan({ ...drafted, inputs: { ...drafted.inputs, workload, cluster: hardware } }, new Date());
    const { plans, applications } = runtime.services;
    plan = await importAndApprove(plans, sealed, embeddedClusterId);
    await apply();
    expect(applications.list(embeddedClusterId)[0]).toMatchObject({ state: "done", error: null });
  }, 60_000);
  afterAll(async () => {
    await runtime.close();
    await cluster.stop();
  });

  async function apply(): Promise<void> {
    const { applications } = runtime.services;
    const request = { planId: plan.id, clusterId: embeddedClusterId, expectedRunningPlanId: null, rollBackOnRegression: false };
    const started = await applications.start(request, "a");
    if (!started.ok) throw new Error(started.message);
    await until(() => applications.get(started.application.id)?.endedAt);
  }

  const lines = (): readonly DriftLine[] | null => runtime.services.attach.detail(embeddedClusterId)?.drift?.lines ?? null;
  const found = (count: number): Promise<readonly DriftLine[]> => until(() => (lines()?.length === count ? lines() : null));
  const engines = (): readonly string[] => targetEngines(plan).map(({ id }) => id);
  const audited = (action: string): number => runtime.services.audit.list(100).filter((line) => line.action === action).length;
  const at = (path: string) => `${cluster.gatewayAdminUrl}${path}`;
  const aWhile = () => new Promise((wake) => setTimeout(wake, aWhileMs));

  async function config(): Promise<{ readonly config: GatewayConfig; readonly etag: string }> {
    const read = await fetch(at("/config"), { headers });
    return { config: (await read.json()) as GatewayConfig, etag: read.headers.get("etag") ?? "" };
  }
  async function put(changed: (was: GatewayConfig) => GatewayConfig): Promise<void> {
    const { config: was, etag } = await config();
    const body = JSON.stringify({ ...changed(was), by: "somebody", reason: "a test" });
    expect((await fetch(at("/config"), { method: "PUT", headers: { ...headers, "if-match": etag }, body })).ok).toBe(true);
  }

  it("is nothing after an apply", async () => {
    expect(await found(0)).toEqual([]);
    await aWhile();
    expect(lines()).toEqual([]);
    expect(audited("drift began")).toBe(0);
    expect(runtime.services.clusters.list()[0]?.attention).toEqual([]);
  });

  it("is told where knobs are turned at the gateway, and stays turned", async () => {
    const { etag } = await config();
    const body = JSON.stringify({ thresholds: [62], by: "somebody", reason: "a test" });
    expect((await fetch(at("/knobs"), { method: "PATCH", headers: { ...headers, "if-match": etag }, body })).ok).toBe(true);
    const [line] = await found(1);
    expect(line).toMatchObject({
      of: "policy",
      desired: "threshold 60",
      says: "Knobs were turned at the gateway: threshold 60 became threshold 62.",
    });
    await aWhile();
    expect((await config()).config.policy).toMatchObject({ thresholds: [62] });
    expect(audited("drift began")).toBe(1);
  });

  it("is told where an engine is cordoned and another is added, and both stay", async () => {
    const [first = ""] = engines();
    await put((was) => ({
      ...was,
      policy: plan.policy,
      policyHash: plan.policyHash,
      replicas: [
        ...was.replicas.map((replica) => (replica.id === first ? { ...replica, state: "cordoned" as const } : replica)),
        { id: "stranger", model: "qwen2.5-3b", url: "http://127.0.0.1:9", state: "active", maxInFlight: 3 },
      ],
    }));
    const said = await found(2);
    expect(said).toContainEqual(expect.objectContaining({ of: "routing", subject: first, says: expect.stringContaining("cordoned") }));
    expect(said).toContainEqual(expect.objectContaining({ of: "routing", subject: "stranger", desired: "nothing" }));
    await aWhile();
    expect(audited("drift began")).toBe(1);
    const changed = runtime.services.audit.list(100).find((line) => line.action === "drift changed");
    expect(changed?.detail).toContain("sends requests to stranger");
    const { replicas } = (await config()).config;
    expect(replicas.map(({ id }) => id)).toContain("stranger");
    expect(replicas.find(({ id }) => id === first)).toMatchObject({ state: "cordoned" });
    await put((was) => ({
      ...was,
      replicas: was.replicas.filter(({ id }) => id !== "stranger").map((one) => ({ ...one, state: "active" as const })),
    }));
    await found(0);
  });

  it("is told where another plan is put at the gateway, and stays there", async () => {
    await put((was) => ({ ...was, planId: "f00d" }));
    expect(await found(1)).toMatchObject([
      { of: "policy", actual: expect.stringContaining("plan f00d"), says: expect.stringContaining("changed outside Weir") },
    ]);
    await aWhile();
    expect((await config()).config.planId).toBe("f00d");
    await put((was) => ({ ...was, planId: plan.id }));
    await found(0);
  });

  it("is told where an engine is ended and another is started on its GPU, and neither is undone", async () => {
    const [gone = ""] = engines();
    const emulator = `http://127.0.0.1:${cluster.environment.WEIR_EMULATOR_PORT}/engines`;
    expect((await fetch(`${emulator}/${gone}?graceSeconds=0`, { method: "DELETE", headers })).ok).toBe(true);
    const stranger = { id: "stranger", model: "qwen2.5-7b", gpu: "l40s", tp: 1, pp: 1, placements: [{ node: "node1", gpus: [0] }] };
    await until(async () => (await fetch(emulator, { method: "POST", headers, body: JSON.stringify(stranger) })).ok);
    const said = await until(() => {
      const all = lines() ?? [];
      return all.some(({ subject }) => subject === gone) && all.some(({ subject }) => subject === "stranger") && all;
    });
    expect(said).toContainEqual(expect.objectContaining({ of: "engine", subject: gone, actual: "not there" }));
    expect(said).toContainEqual(
      expect.objectContaining({
        of: "engine",
        subject: "stranger",
        says: `stranger runs on GPUs that the plan in force gives to ${gone}.`,
      }),
    );
    expect(runtime.services.clusters.list()[0]?.attention).toContainEqual(
      expect.objectContaining({ level: "bad", subject: gone, sentence: `${gone} should serve and is gone.` }),
    );
    await aWhile();
    const standing = (await (await fetch(emulator, { headers })).json()) as readonly { readonly id: string }[];
    expect(standing.map(({ id }) => id)).toContain("stranger");
    expect(standing.map(({ id }) => id)).not.toContain(gone);
    expect(runtime.services.audit.list(100).find((line) => line.action === "drift began")?.detail).toContain(gone);
  });

  it("is noted once where it stays the same over a restart of the studio", async () => {
    const noted = () => runtime.services.audit.list(200).filter(({ action }) => action.startsWith("drift "));
    const before = noted();
    const count = lines()?.length ?? 0;
    expect(count).toBeGreaterThan(0);
    await runtime.close();
    runtime = createRuntime(studioSettings(cluster.environment));
    await found(count);
    await aWhile();
    expect(noted()).toEqual(before);
  });
});
