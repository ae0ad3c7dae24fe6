import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { startLoad } from "@/server/load/driver";
import { drawSample } from "@/solver/workload/sample";
import { planOnGpus, startTestCluster, timeScale } from "../testing/testCluster";
import { createApplyRunner } from "./applyRunner";

const small = planOnGpus("small", { "qwen2.5-3b": [0] });
const cascade = planOnGpus("cascade", { "qwen2.5-3b": [0, 1], "qwen2.5-7b": [2] });
const single = planOnGpus("single", { "qwen2.5-7b": [0, 1] });
const unapproved = planOnGpus("unapproved", { "qwen2.5-3b": [3] });
const elsewhere = planOnGpus("elsewhere", { "qwen2.5-3b": [7] });
const at = "2026-01-01T00:00:00.000Z";

describe("applying plans on the embedded cluster", () => {
  let cluster: Awaited<ReturnType<typeof startTestCluster>>;
  beforeAll(async () => {
    cluster = await startTestCluster();
    const { store } = cluster;
    store.clusters.insert({ ...small.inputs.cluster, id: "embedded", kind: "embedded" }, at);
    store.workloads.insert({ id: "w", createdAt: at, name: "w" } as WorkloadSummary, Buffer.from(""));
    for (const plan of [small, cascade, single, unapproved, elsewhere]) store.plans.keep(plan);
    for (const plan of [small, cascade, single, elsewhere])
      store.approvals.insert({ planId: plan.id, clusterId: "embedded", actor: "a", at, reason: "" });
  }, 60_000);
  afterAll(() => cluster.stop());

  const newRunner = (graceMs = 0) =>
    createApplyRunner({ store: cluster.store, connectorOf: (id) => (id === "embedded" ? cluster.connector : null), graceMs });
  const order = (planId: string | null) => ({ clusterId: "embedded", planId, kind: "apply" as const, actor: "a" });
  const ended = async (id: string) => {
    for (;;) {
      const application = cluster.store.applications.get(id);
      if (application?.endedAt) return application;
      await new Promise((wake) => setTimeout(wake, 20));
    }
  };
  const startOf = async (runner: ReturnType<typeof newRunner>, planId: string | null) => {
    const started = await runner.start(order(planId));
    if (!started.ok) throw new Error(started.message);
    return started.application;
  };
  const enginesUp = async () => {
    const observed = await cluster.connector.observe();
    return observed.ok ? observed.value.engines.map((engine) => engine.id).sort() : observed.message;
  };
  const answerOf = async (model: string) => {
    const body = JSON.stringify({ model, messages: [{ role: "user", content: "hello" }], max_tokens: 4 });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${cluster.gatewayUrl}/v1/chat/completions`, { method: "POST", headers, body });
    await answer.text();
    return { status: answer.status, planId: answer.headers.get("x-weir-plan") };
  };
  const ask = async (model: string) => (await answerOf(model)).status;

  it("refuses what was not approved, does not fit, or cannot be applied to", async () => {
    const runner = newRunner();
    const refusal = async (planId: string | null, clusterId = "embedded") => {
      const started = await runner.start({ ...order(planId), clusterId });
      return started.ok ? "started" : started.message;
    };
    expect(await refusal(unapproved.id)).toMatch(/not approved/);
    cluster.store.approvals.insert({ planId: unapproved.id, clusterId: "staging", actor: "a", at, reason: "" });
    expect(await refusal(unapproved.id)).toMatch(/not approved on this cluster/);
    expect(await refusal(elsewhere.id)).toBe("The plan places qwen2.5-3b on GPU 7 of node1, which has 4.");
    expect(await refusal("f".repeat(64))).toMatch(/is not kept/);
    expect(await refusal(small.id, "described")).toMatch(/only described/);
    expect(cluster.store.applications.list("embedded")).toEqual([]);
    await runner.close();
  });

  it("puts a plan into force: engines verified, gateway answering, each step written down", async () => {
    const runner = newRunner();
    const { id } = await startOf(runner, small.id);
    const done = await ended(id);
    expect(done.error).toBeNull();
    expect(done.state).toBe("done");
    expect(done.steps.map((step) => `${step.kind} ${step.state}`)).toEqual([
      "load-outcomes done",
      "start done",
      "verify done",
      "switch-policy done",
    ]);
    const journal = cluster.store.journal.of(id);
    for (const step of done.steps) {
      const lines = journal.filter(({ stepId, event }) => stepId === step.id && event !== "said");
      expect(lines.map(({ event }) => event)).toEqual(["intended", "done", "verified"]);
      expect(lines[0]?.detail).toBe(step.text);
    }
    expect(journal.at(-1)).toMatchObject({ stepId: null, event: "said", detail: "Ended: done." });
    expect(done.verification).toMatchObject({ state: "watching", toMs: null });
    expect(cluster.store.clusters.get("embedded")?.runningPlanId).toBe(small.id);
    expect(await ask("cascade/small")).toBe(200);
    expect(cluster.store.audit.list(2).map((line) => line.action)).toEqual(["apply done", "apply"]);
    await runner.close();
  });

  it("goes on after the studio was ended in the middle of a roll-out", async () => {
    const first = newRunner();
    const { id } = await startOf(first, cascade.id);
    while (!cluster.store.applications.get(id)?.steps.some((step) => step.state === "done"))
      await new Promise((wake) => setTimeout(wake, 5));
    await first.close();
    const cut = cluster.store.applications.get(id);
    expect(cut?.state).toBe("running");
    expect(cut?.steps.every((step) => step.state === "done")).toBe(false);

    const second = newRunner();
    second.resumeAll();
    const done = await ended(id);
    expect(done.error).toBeNull();
    expect(done.state).toBe("done");
    expect(await enginesUp()).toEqual([
      "qwen2.5-3b-bf16-tp1-pp1-node1-0",
      "qwen2.5-3b-bf16-tp1-pp1-node1-1",
      "qwen2.5-7b-bf16-tp1-pp1-node1-2",
    ]);
    expect(await ask("cascade/cascade")).toBe(200);
    await second.close();
  });

  it("finds out what is in force when it was ended between the switch and its record", async () => {
    const { store } = cluster;
    const [latest] = store.applications.list("embedded");
    if (latest === undefined) throw new Error("Nothing was applied.");
    const cut = latest.steps.map((step, index) => (index === latest.steps.length - 1 ? { ...step, state: "running" as const } : step));
    store.applications.save({ ...latest, state: "running", endedAt: null, steps: cut });
    store.clusters.setRunning("embedded", { planId: small.id, since: at });
    const runner = newRunner();
    runner.resumeAll();
    expect((await ended(latest.id)).state).toBe("done");
    expect(store.clusters.get("embedded")?.runningPlanId).toBe(cascade.id);
    await runner.close();
  });

  it("lets only one application run at a time, and takes one back within its grace", async () => {
    const runner = newRunner(60_000);
    const { id } = await startOf(runner, small.id);
    const second = await runner.start(order(cascade.id));
    expect(second.ok ? "" : second.message).toMatch(/Another application runs/);
    runner.abort(id, "a");
    const aborted = await ended(id);
    expect(aborted.state).toBe("aborted");
    expect(aborted.steps.every((step) => step.state === "skipped")).toBe(true);
    expect(cluster.store.clusters.get("embedded")?.runningPlanId).toBe(cascade.id);
    await runner.close();
  });

  it("waits while paused, and undoes what was done when aborted", async () => {
    const runner = newRunner();
    const { id } = await startOf(runner, small.id);
    while (!cluster.store.applications.get(id)?.steps.some((step) => step.state === "done"))
      await new Promise((wake) => setTimeout(wake, 5));
    runner.pause(id, "a");
    await new Promise((wake) => setTimeout(wake, 500));
    const paused = cluster.store.applications.get(id);
    expect(paused?.state).toBe("paused");
    expect(paused?.steps.some((step) => step.state === "waiting")).toBe(true);
    runner.abort(id, "a");
    const undone = await ended(id);
    expect(undone.error).toBeNull();
    expect(undone.state).toBe("rolled-back");
    expect(cluster.store.clusters.get("embedded")?.runningPlanId).toBe(cascade.id);
    expect(await enginesUp()).toHaveLength(3);
    expect(await ask("cascade/cascade")).toBe(200);
    await runner.close();
  });

  it("fails no request under load while a cascade is replaced by one model and while it is rolled back", async () => {
    const runner = newRunner();
    const { gatewayUrl, workload } = cluster;
    const requestsPerSecond = 1;
    const load = startLoad({
      id: "l",
      gatewayUrl,
      model: defaultCascade,
      timeScale,
      workloadName: "w",
      requestsPerSecond,
      seconds: Number.POSITIVE_INFINITY,
      sample: drawSample(workload, { part: "heldOut", requestsPerSecond, requests: 5000, seed: 1 }),
      outcomes: workload.outcomes,
      labelled: false,
    });
    let asking = true;
    const answers: { readonly status: number; readonly planId: string | null }[] = [];
    // A client that always names the plan it began with, and one that names a model of both plans.
    const asker = async (model: string) => {
      while (asking) answers.push(await answerOf(model));
    };
    const askers = [asker("cascade/cascade"), asker("qwen2.5-7b")];
    expect((await ended((await startOf(runner, single.id)).id)).error).toBeNull();
    expect(await enginesUp()).toEqual(["qwen2.5-7b-bf16-tp1-pp1-node1-0", "qwen2.5-7b-bf16-tp1-pp1-node1-1"]);
    expect(await answerOf("cascade/cascade")).toEqual({ status: 200, planId: single.id });
    expect((await ended((await startOf(runner, cascade.id)).id)).error).toBeNull();
    expect(await answerOf("cascade/single")).toEqual({ status: 200, planId: cascade.id });
    asking = false;
    await Promise.all(askers);
    const { finished, failed } = await load.stop();
    expect(failed).toBe(0);
    expect(finished).toBeGreaterThan(50);
    expect(answers.length).toBeGreaterThan(5);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await runner.close();
  }, 60_000);

  it("lets an application be given up whose cluster the studio is not connected to any more", async () => {
    const first = newRunner(60_000);
    const { id } = await startOf(first, single.id);
    await first.close();
    const second = createApplyRunner({ store: cluster.store, connectorOf: () => null });
    second.resumeAll();
    expect(second.resume(id, "a")).toMatchObject({ ok: false, message: expect.stringMatching(/not connected/) });
    expect(second.abort(id, "a")).toMatchObject({ ok: true, application: { state: "failed", error: expect.stringMatching(/^Given up/) } });
    expect(second.abort(id, "a")).toMatchObject({ ok: false, message: "This application has ended." });
    expect(cluster.store.applications.open()).toEqual([]);
    await second.close();
  });

  it("stops everything on a rollback to nothing", async () => {
    const runner = newRunner();
    const done = await ended((await startOf(runner, null)).id);
    expect(done.error).toBeNull();
    expect(await enginesUp()).toEqual([]);
    expect(cluster.store.clusters.get("embedded")?.runningPlanId).toBeNull();
    await runner.close();
  });
});
