import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { askCascade, planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { ClusterJudge } from "@/server/contracts/studio";
import { gatewayUses } from "@/server/fleet/connection";
import { startTestJudge, type TestJudge } from "@/server/judges/testing/testJudge";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import type { Plan } from "@/solver/plan/plan";

const until = async <Value>(look: () => Value | Promise<Value>): Promise<Exclude<NonNullable<Value>, false>> => {
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value as Exclude<NonNullable<Value>, false>;
    await new Promise((wake) => setTimeout(wake, 50));
  }
};

const signal = new AbortController().signal;
const by = "operator";
const [SMALL, MIDDLE] = ["qwen2.5-3b", "qwen2.5-7b"] as const;

/** A studio, and externally run engines and a gateway, with a judge that a test slows down. */
describe("the judge of attached engines", { timeout: 60_000 }, () => {
  let own: Awaited<ReturnType<typeof startTestCluster>>;
  let others: Awaited<ReturnType<typeof startTestCluster>>;
  let runtime: Runtime;
  let judge: TestJudge;
  let urls: readonly string[];
  let clusterId = "";

  beforeAll(async () => {
    [own, others, judge] = await Promise.all([
      startTestCluster({ signed: false }),
      startTestCluster({ signed: false }),
      startTestJudge({ takesMs: () => 20 }),
    ]);
    const engines = targetEngines(planOnGpus("there", { [SMALL]: [0], [MIDDLE]: [1] }));
    const options = { signal, report: () => undefined };
    expect(await others.connector.applyStep({ kind: "load-outcomes", workloadId: "w" }, options)).toMatchObject({ ok: true });
    for (const engine of engines) expect(await others.connector.applyStep({ kind: "start", engine }, options)).toMatchObject({ ok: true });
    const seen = await until(async () => {
      const found = await others.connector.observe();
      return found.ok && found.value.engines.length === 2 ? found.value.engines : null;
    });
    urls = engines.map(({ id }) => seen.find((engine) => engine.id === id)?.url ?? "");
    for (const url of urls) await until(async () => (await fetch(`${url}/health`).catch(() => null))?.ok);
    runtime = createRuntime(studioSettings(own.environment));
  }, 60_000);
  afterAll(async () => {
    await runtime.close();
    await Promise.all([own.stop(), others.stop(), judge.close()]);
  });

  const known = (): ClusterJudge => {
    const found = runtime.services.attach.judge(clusterId);
    if (found === null) throw new Error("There is no such cluster.");
    return found;
  };

  async function planned(asked?: SolveRequest["judge"]): Promise<Plan> {
    const request: SolveRequest = {
      ...{ workloadId: runtime.services.workloads.list()[0]?.id ?? "", clusterId, requestsPerSecond: 2 },
      fixed: { models: [SMALL, MIDDLE], thresholds: [50] },
      ...(asked === undefined ? {} : { judge: asked }),
      objective: {
        ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 30, qualityConfidence: 0.9 },
        ...{ latencyBudgetSeconds: null, maxGpus: 64 },
      },
    };
    for await (const event of runtime.services.plans.solve(request, signal)) {
      if (event.kind === "progress") continue;
      if (event.answer.outcome === "infeasible") throw new Error(event.answer.reason);
      return event.answer.plan;
    }
    throw new Error("Nothing was answered.");
  }
  const judgeIn = ({ policy }: Plan) => {
    if (policy.kind !== "cascade") throw new Error(`a ${policy.kind} policy has no judge`);
    return policy.judge;
  };

  const connection = () => ({
    kind: "endpoints",
    judge: { model: "our-judge", url: judge.url },
    endpoints: urls.map((url, at) => ({ name: `e${at}`, url, model: at === 0 ? SMALL : MIDDLE, gpu: "l40s", precision: "bf16" })),
  });

  it("is planned with at the time that was measured when it was attached, under its own name", async () => {
    const gateway = { runBy: "operator", url: others.gatewayUrl, adminUrl: others.gatewayAdminUrl } as const;
    // The gateway was started with the studio's token.
    secretOrigins.allow(gatewayUses(gateway));
    const attached = await runtime.services.attach.attach(
      {
        name: "theirs",
        gateway,
        connection: connection(),
      },
      by,
    );
    if (!attached.ok) throw new Error(attached.message);
    clusterId = attached.id;
    const plan = await planned();
    expect(judgeIn(plan).model).toBe("our-judge");
    expect(judgeIn(plan).secondsPerCall).toBeGreaterThan(0.019);
    expect(judgeIn(plan).secondsPerCall).toBeLessThan(0.1);
    expect(plan.inputs.judgeTime).toMatchObject({ kind: "measured-at-attach", calls: expect.any(Number) });
    expect(known()).toMatchObject({ judge: { model: "our-judge" }, test: { fault: null }, stale: false, trafficRatio: null });
  });

  it("is planned with at the time that an operator enters, for one plan or for the cluster", async () => {
    const measured = await planned();
    const slower = await planned({ kind: "fixed", secondsPerCall: 0.5 });
    expect(judgeIn(slower)).toMatchObject({ model: "our-judge", secondsPerCall: 0.5 });
    const moved = slower.predictions.p95Seconds - measured.predictions.p95Seconds;
    expect(moved).toBeGreaterThan(0.35);
    expect(moved).toBeLessThan(1);
    expect(runtime.services.attach.enterJudgeTime(clusterId, 0.5, by)).toEqual({ ok: true });
    const entered = await planned();
    expect(entered.predictions.p95Seconds).toBe(slower.predictions.p95Seconds);
    expect(entered.inputs.judgeTime).toEqual({ kind: "entered" });
    expect(runtime.services.audit.list(10)).toContainEqual(expect.objectContaining({ action: "set judge time", actor: by }));
    expect(runtime.services.attach.enterJudgeTime(clusterId, null, by)).toEqual({ ok: true });
    expect(known().planned.source.kind).toBe("measured-at-attach");
  });

  it("is planned with as traffic shows it once that differs from what was measured, and says by how much", async () => {
    const { plans, applications } = runtime.services;
    const { id: planId } = await planned();
    plans.keep(planId, by);
    plans.approve({ planId, clusterId, hash: plans.get(planId)?.approvalHashes[clusterId] ?? "", reason: "" }, by);
    const request = { planId, clusterId, expectedRunningPlanId: null, rollBackOnRegression: false };
    const started = await until(async () => {
      const tried = await applications.start(request, by);
      return tried.ok ? tried : null;
    });
    await until(() => applications.get(started.application.id)?.state === "done");
    judge.is.takesMs = () => 60;
    for (let asked = 0; asked < 60; asked += 10)
      await Promise.all(Array.from({ length: 10 }, () => askCascade(others.gatewayUrl, "default")));
    const seen = await until(() => (known().planned.source.kind === "measured-from-traffic" ? known() : null));
    expect(seen.traffic?.times.calls).toBeGreaterThanOrEqual(50);
    expect(seen.trafficRatio).toBeGreaterThan(1.5);
    expect(seen.planned.secondsPerCall).toBeGreaterThan(0.055);
    const plan = await planned();
    expect(judgeIn(plan).secondsPerCall).toBeGreaterThan(0.055);
    expect(plan.inputs.judgeTime).toEqual({
      ...{ kind: "measured-from-traffic", calls: seen.traffic?.settled.calls, measuredAt: seen.traffic?.settled.at },
    });
    expect(seen.health).toMatchObject({ model: "our-judge", state: "answering", failed: 0 });
  });

  it("is measured again when that is asked, and a judge that fails is named with the way out", async () => {
    judge.is.takesMs = () => 5;
    const again = await runtime.services.attach.measureJudge(clusterId);
    if (!again.ok) throw new Error(again.message);
    expect(again.test.times?.meanSeconds).toBeLessThan(0.04);
    expect(known().test).toEqual(again.test);
    judge.is.reply = "A fine answer.";
    const wrong = await runtime.services.attach.measureJudge(clusterId);
    expect(wrong).toMatchObject({ ok: true, test: { fault: "no-score", times: null, findings: [{ next: expect.any(String) }] } });
    for (let asked = 0; asked < 4; asked += 1) await askCascade(others.gatewayUrl, "default");
    await until(() => known().health?.state === "circuit-open");
    expect(known().health).toMatchObject({ reason: expect.stringContaining("not a single number"), lastScoreAt: expect.any(String) });
    // Attention items are updated every few seconds; traffic keeps the circuit open meanwhile.
    await until(async () => {
      await askCascade(others.gatewayUrl, "default");
      return runtime.services.attach.detail(clusterId)?.attention.some(({ subject, level }) => subject === "our-judge" && level === "bad");
    });
  });

  it("is tested again when its connection is kept once more after a test that failed", async () => {
    judge.is.reply = "A fine answer.";
    expect(await runtime.services.attach.measureJudge(clusterId)).toMatchObject({ ok: true, test: { fault: "no-score" } });
    judge.is.reply = "80";
    const kept = await until(async () => {
      const tried = await runtime.services.attach.change(clusterId, connection(), by);
      return tried.ok ? tried : null;
    });
    expect(kept).toEqual({ ok: true });
    expect(known().test).toMatchObject({ fault: null, times: { calls: expect.any(Number) } });
  });
});
