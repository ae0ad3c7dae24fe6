import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Decision, defaultCascade, type GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayAuditLine } from "@/server/contracts/gateway/gatewayControls";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { heldOutOutcomes } from "@/server/workloads/heldOutOutcomes";
import { gatewayConfig } from "../connector/gatewayRouting";
import { targetEngines } from "../steps/targetEngines";
import { planOnGpus, startTestCluster } from "../testing/testCluster";
import { createApplyRunner } from "./applyRunner";
import { planMismatch } from "./planMismatch";

const judgeModel = "llama-3.1-8b";
const at = "2026-01-01T00:00:00.000Z";
const outside = planOnGpus("outside", { "qwen2.5-3b": [0], "qwen2.5-7b": [1] });

/** The same cascade, judged by its own engines on these GPUs. */
function judgedOn(gpus: readonly number[]) {
  const { deployment } = planOnGpus("judges", { [judgeModel]: gpus });
  const judge = { model: judgeModel, secondsPerCall: 0.1, usdPerCall: 0, engine: { rubricTokens: 150, outputTokens: 1 } };
  const metadata = { name: `judged-${gpus.length}` };
  return sealPlan(
    { ...outside, metadata, deployment: [...outside.deployment, ...deployment], policy: { ...outside.policy, judge } },
    new Date(at),
  );
}

const one = judgedOn([2]);
const two = judgedOn([2, 3]);

describe("the routing of a plan whose judge is engines of its own", () => {
  const emulatedJudge = { model: "weir-judge", url: "http://127.0.0.1:1" };
  const configOf = (plan: typeof outside, current: GatewayConfig | null, without: readonly string[] = []) => {
    const engines = targetEngines(plan)
      .filter(({ model }) => !without.includes(model))
      .map((engine) => ({ ...engine, stopping: false, url: "http://127.0.0.1:2" }));
    const routing = { planId: plan.id, active: engines.map(({ id }) => id), cordoned: [] };
    return gatewayConfig({ routing, plan, engines, judge: emulatedJudge, timeScale: 1, current });
  };

  it("names the judge by its model alone, and the cluster's judge for every other plan", () => {
    expect(configOf(one, null)?.judge).toEqual({ model: judgeModel });
    expect(configOf(outside, null)?.judge).toEqual(emulatedJudge);
    const alone = { ...one.policy, stages: one.policy.stages.slice(0, 1), thresholds: [], approvedRanges: { thresholds: [] } };
    expect(configOf({ ...one, policy: alone }, null)?.judge).toEqual(emulatedJudge);
  });

  it("keeps a judge whose engines are out listed, cordoned", () => {
    const config = configOf(one, configOf(one, null), [judgeModel]);
    expect(config?.replicas.filter(({ model }) => model === judgeModel).map(({ state }) => state)).toEqual(["cordoned"]);
  });

  it("does not fit where the judge is not deployed", () => {
    const cluster = { gpu: "l40s", nodes: [{ name: "node1", gpus: 4 }] };
    expect(planMismatch(cluster, one)).toBeNull();
    const bare = sealPlan({ ...one, deployment: outside.deployment }, new Date(at));
    expect(planMismatch(cluster, bare)).toBe(`The plan is judged by ${judgeModel} but deploys no engine of it.`);
  });
});

describe("a plan whose judge is engines of its own, applied on the embedded cluster", () => {
  let cluster: Awaited<ReturnType<typeof startTestCluster>>;
  let runner: ReturnType<typeof createApplyRunner>;
  beforeAll(async () => {
    cluster = await startTestCluster();
    const { store } = cluster;
    store.clusters.insert({ ...one.inputs.cluster, id: "embedded", kind: "embedded" }, at);
    store.workloads.insert({ id: "w", createdAt: at, name: "w" } as WorkloadSummary, Buffer.from(""));
    for (const plan of [outside, one, two]) {
      store.plans.keep(plan);
      store.approvals.insert({ planId: plan.id, clusterId: "embedded", actor: "a", at, reason: "" });
    }
    runner = createApplyRunner({ store, connectorOf: (id) => (id === "embedded" ? cluster.connector : null), graceMs: 0 });
  }, 60_000);
  afterAll(async () => {
    await runner.close();
    await cluster.stop();
  });

  const apply = async (plan: typeof outside) => {
    const started = await runner.start({ clusterId: "embedded", planId: plan.id, kind: "apply", actor: "a" });
    if (!started.ok) throw new Error(started.message);
    for (;;) {
      const application = cluster.store.applications.get(started.application.id);
      if (application?.endedAt) return application;
      await new Promise((wake) => setTimeout(wake, 20));
    }
  };
  const admin = async <T>(path: string): Promise<T> => {
    const { WEIR_GATEWAY_ADMIN_PORT: port, WEIR_ADMIN_TOKEN: token } = cluster.environment;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
    return (await answer.json()) as T;
  };
  const ask = async (promptId: string) => {
    const body = JSON.stringify({ model: defaultCascade, messages: [{ role: "user", content: `[prompt ${promptId}] hello` }] });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${cluster.gatewayUrl}/v1/chat/completions`, { method: "POST", headers, body });
    await answer.text();
    return { status: answer.status, decisionId: answer.headers.get("x-weir-decision-id") };
  };
  const judgedRequests = async () => {
    const observed = await cluster.connector.observe();
    if (!observed.ok) throw new Error(observed.message);
    const judges = observed.value.engines.filter(({ model }) => model === judgeModel);
    const counts = judges.map(async ({ url }) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const lines = text.split("\n").filter((line) => line.startsWith("vllm:request_success_total"));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    });
    return Promise.all(counts);
  };

  it("brings the judge up with the stages and asks it for every score of the first stage", async () => {
    const { error, steps } = await apply(one);
    expect(error).toBeNull();
    expect(steps.at(-1)?.kind).toBe("switch-policy");
    expect(await admin<GatewayConfig>("/config")).toMatchObject({ judge: { model: judgeModel } });
    const { lines } = await admin<{ lines: GatewayAuditLine[] }>("/audit");
    expect(lines.map(({ by, action }) => `${by} ${action}`)).toEqual(lines.map(() => "studio configuration"));
    expect(lines.at(-1)?.detail).toMatch(/: a step of an application$/);
    const { promptIds, models } = heldOutOutcomes({ ...cluster.workload, name: "w" });
    const scores = models.find(({ model }) => model === "qwen2.5-3b")?.judged ?? [];
    // The request that verified it is counted too.
    const before = (await judgedRequests())[0] ?? Number.NaN;
    for (const [index, promptId] of promptIds.slice(0, 8).entries()) {
      const { status, decisionId } = await ask(promptId);
      expect(status).toBe(200);
      const { stages, degraded } = await admin<Decision>(`/decisions/${decisionId}`);
      const score = Math.min(100, Math.max(0, Math.round(scores[index] ?? Number.NaN)));
      expect(stages[0]).toMatchObject({ model: "qwen2.5-3b", judgedScore: score, threshold: 60 });
      expect(stages.at(-1)?.model).toBe(score >= 60 ? "qwen2.5-3b" : "qwen2.5-7b");
      expect(degraded).toEqual([]);
    }
    expect((await judgedRequests())[0]).toBe(before + 8);
    const listed = (await (await fetch(`${cluster.gatewayUrl}/v1/models`)).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toContain(judgeModel);
  });

  it("adds a judge's engine and takes it away, and gives judging back to the cluster's judge, failing no request", async () => {
    const { promptIds } = heldOutOutcomes({ ...cluster.workload, name: "w" });
    let asking = true;
    let next = 0;
    const answers: Awaited<ReturnType<typeof ask>>[] = [];
    const asker = async () => {
      while (asking) {
        next += 1;
        answers.push(await ask(promptIds[next % promptIds.length] ?? ""));
      }
    };
    const askers = [asker(), asker(), asker(), asker()];
    expect((await apply(two)).error).toBeNull();
    expect(await judgedRequests()).toHaveLength(2);
    expect((await apply(one)).error).toBeNull();
    expect(await judgedRequests()).toHaveLength(1);
    const judgedByEngines = answers.length;
    expect((await apply(outside)).error).toBeNull();
    expect(await judgedRequests()).toEqual([]);
    const last = await ask(promptIds[0] ?? "");
    asking = false;
    await Promise.all(askers);
    expect(await admin<GatewayConfig>("/config")).toMatchObject({ judge: { model: "weir-judge", url: expect.any(String) } });
    expect((await admin<Decision>(`/decisions/${last.decisionId}`)).stages[0]?.judgedScore).not.toBeNull();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // While engines of the judge come and go every answer is judged.
    expect(judgedByEngines).toBeGreaterThan(20);
    for (const { decisionId } of answers.slice(0, judgedByEngines)) {
      expect((await admin<Decision>(`/decisions/${decisionId}`)).degraded).toEqual([]);
    }
  });
});
