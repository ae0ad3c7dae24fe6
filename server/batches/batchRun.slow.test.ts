import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBatchService } from "@/server/api/ensembles/batchService";
import { createCardStore } from "@/server/cards/cardStore";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { emulatorOf, keepPrompts, until } from "@/server/profiling/testing/testProfileStudio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import { createUploads } from "@/server/store/uploads";
import { batchesOver, ensembleOf, hostOf, keepCluster, letterOf, orderOf, panelOutcomes, questionsOf } from "./testing/testBatchStudio";

const experts = ["gemma-2-2b", "gemma-2-9b", "qwen2.5-3b"];
const aggregator = "qwen2.5-7b";
const QUESTIONS = 60;
const ids = Array.from({ length: QUESTIONS }, (_, at) => `q${at}`);

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let batches: ReturnType<typeof batchesOver>;
beforeAll(async () => {
  cluster = await startTestCluster({ timeScale: 40, gpus: 2 });
  await emulatorOf(cluster).replay(panelOutcomes(ids, experts, aggregator));
  keepCluster(cluster.store, 2);
  keepPrompts(
    cluster.store,
    questionsOf(ids, (id) => letterOf(ids.indexOf(id))),
  );
  batches = batchesOver(cluster.store, hostOf(cluster));
});
afterAll(async () => {
  await batches?.close();
  await cluster?.stop();
});

const start = (change: Partial<Parameters<typeof orderOf>[0]> = {}): string => {
  const order = orderOf({
    ensemble: ensembleOf(experts, aggregator),
    workers: [
      [experts[0] ?? "", experts[1] ?? ""],
      [experts[2] ?? "", experts[0] ?? ""],
    ],
    aggregators: [0, 1],
    questions: QUESTIONS,
    ...change,
  });
  const started = batches.start(order, "ann");
  if (!started.ok) throw new Error(started.message);
  return started.id;
};
const standing = async () => (await emulatorOf(cluster).read()).engines.map(({ id }) => id);

describe("a batch on the embedded cluster", () => {
  it("goes through its sessions, skips the aggregator where experts agree, and has a result for each question", async () => {
    const points = [
      { share: 0, seconds: 0 },
      { share: 1, seconds: 90 },
    ];
    const id = start({ aggregatorPredicted: { loadSeconds: 8, points, expected: null } });
    const before = batches.get(id);
    expect(before?.aggregatorPredicted).toMatchObject({ share: 1, seconds: 90, says: expect.stringContaining("as if all 60 questions") });
    await until(() => batches.get(id)?.state === "done");
    const batch = batches.get(id);
    expect(batch?.aggregatorPredicted).toEqual({
      ...{ share: 1 / 3, loadSeconds: 8, seconds: 30 },
      says: "Predicted for the 20 of 60 questions that the gate sends to the aggregator.",
    });
    expect(batch?.sessions.at(-1)?.predicted).toEqual({ loadSeconds: 8, seconds: 30 });
    expect(batch?.progress).toMatchObject({
      expertAnswers: { asked: 3 * QUESTIONS, done: 3 * QUESTIONS, failed: 0 },
      questions: { skipped: 40, aggregated: 20, unanswered: 0, open: 0, toAggregate: 20 },
      ...{ noVote: 0, failures: [], lost: 0, retried: 0, etaSeconds: null },
    });
    expect(batch?.accuracy).toEqual({ right: QUESTIONS, questions: QUESTIONS });
    expect(batch?.endedAt).not.toBeNull();
    expect(batch?.sessions.map(({ stage, model, state }) => [stage, model, state])).toEqual([
      ["experts", experts[0], "done"],
      ["experts", experts[1], "done"],
      ["experts", experts[2], "done"],
      ["experts", experts[0], "done"],
      ["aggregator", aggregator, "done"],
      ["aggregator", aggregator, "done"],
    ]);
    for (const { stage, answered, prompts, measured } of batch?.sessions ?? []) {
      expect(answered).toBe(prompts);
      if (stage === "experts") expect(measured).toEqual({ loadSeconds: expect.any(Number), seconds: expect.any(Number) });
    }
    const results = [...(batches.results(id) ?? [])];
    expect(results.map((result) => result.id)).toEqual(ids);
    expect(results[0]).toMatchObject({ verdict: "aggregated", answer: "A", votes: "2:1", correct: true, category: "even" });
    expect(results[0]?.text).toMatch(/\[emulated answer q0 by qwen2\.5-7b\].*Answer: A$/s);
    expect(results[0]?.aggregator).toEqual({
      ...{ model: aggregator, vote: "A", text: results[0]?.text, outputTokens: expect.any(Number), failure: null },
    });
    expect(results[1]).toMatchObject({ verdict: "skipped", answer: "B", votes: "3:0", confidence: 1, aggregator: null });
    expect(results[0]?.experts.map(({ model, vote }) => [model, vote])).toEqual([
      [experts[0], "A"],
      [experts[1], "A"],
      [experts[2], "B"],
    ]);
    expect(await standing()).toEqual([]);
    // Its engines' time ran faster than wall time, so the host's own time counts forty times in theirs.
    expect(cluster.store.sessionRows.groups()).toEqual([]);
  });

  it("loads no more of the aggregator's engines than there are questions for them", async () => {
    // Experts disagree on the first of its three questions only.
    const id = start({ questions: 3 });
    await until(() => batches.get(id)?.state === "done");
    const batch = batches.get(id);
    expect(batch?.progress.questions).toEqual({ skipped: 2, aggregated: 1, unanswered: 0, open: 0, toAggregate: 1 });
    const engines = batch?.sessions.filter(({ stage }) => stage === "aggregator");
    expect(engines?.map(({ state, answered }) => [state, answered])).toEqual([
      ["done", 1],
      ["waiting", 0],
    ]);
  });

  it("is the only one on its cluster, waits where it is paused, goes on where it is resumed, and ends its engines when it is stopped", async () => {
    const id = start({ request: { concurrency: 1 } });
    const other = batches.start(orderOf({ ensemble: ensembleOf(experts, aggregator), workers: [experts], questions: 1 }), "ann");
    expect(other).toEqual({ ok: false, message: 'The batch "nightly" runs on Embedded: wait for its end, or stop it.' });
    expect(cluster.store.batches.runningOn("embedded")).toBe("nightly");
    const { store, connector } = cluster;
    const plan = planOnGpus("small", { "qwen2.5-3b": [1] });
    store.plans.keep(plan);
    store.workloads.insert({ id: "w", createdAt: "2026-01-01T00:00:00.000Z", name: "w" } as WorkloadSummary, Buffer.from(""));
    store.approvals.insert({ planId: plan.id, clusterId: "embedded", actor: "a", at: "2026-01-01T00:00:00.000Z", reason: "" });
    const runner = createApplyRunner({ store, connectorOf: () => connector, graceMs: 0 });
    expect(await runner.start({ clusterId: "embedded", planId: plan.id, kind: "apply", actor: "ann" })).toEqual({
      ok: false,
      message: 'The batch "nightly" runs on Embedded: wait for its end, or stop it.',
    });
    await runner.close();
    await until(() => (batches.get(id)?.progress.expertAnswers.done ?? 0) >= 5);
    expect(batches.pause(id)).toEqual({ ok: true });
    expect(batches.pause(id)).toEqual({ ok: false, message: '"nightly" is paused, so it cannot be paused.' });
    // Calls that are about to be made are recorded in this turn of the event loop.
    await new Promise((wake) => setImmediate(wake));
    await until(() => cluster.store.batches.callsBetween(id, 0, QUESTIONS).every(({ state }) => state === "done"));
    const done = batches.get(id)?.progress.expertAnswers.done;
    const loaded = await standing();
    expect(loaded.length).toBeGreaterThan(0);
    await new Promise((wake) => setTimeout(wake, 300));
    expect(batches.get(id)).toMatchObject({ state: "paused", pause: { kind: "operator" }, progress: { expertAnswers: { done } } });
    expect(await standing()).toEqual(loaded);
    expect(batches.resume(id)).toEqual({ ok: true });
    await until(() => (batches.get(id)?.progress.expertAnswers.done ?? 0) > (done ?? 0) + 3);
    expect(await batches.stop(id)).toEqual({ ok: true, left: null });
    expect(await standing()).toEqual([]);
    expect(batches.get(id)).toMatchObject({ state: "stopped" });
    expect(cluster.store.batches.runningOn("embedded")).toBeNull();
    expect(await batches.stop(id)).toMatchObject({ ok: false });
    const results = [...(batches.results(id) ?? [])];
    expect(results.length).toBe(batches.get(id)?.progress.questions.skipped);
  });

  it("is not begun while a plan is put into force, though that began after it was prepared", () => {
    const { store } = cluster;
    const application: StoredApplication = {
      ...{ id: "late", clusterId: "embedded", planId: null, previousPlanId: null, hasWayBack: true, kind: "apply", state: "running" },
      ...{ startedAt: new Date().toISOString(), endedAt: null, graceEndsAt: null, steps: [], error: null, actor: "ann", undoing: false },
      ...{ rollBackOnRegression: false, halt: null, verification: null },
    };
    store.applications.save(application);
    const order = orderOf({ ensemble: ensembleOf(experts, aggregator), workers: [experts], questions: 1 });
    expect(batches.start(order, "ann")).toEqual({
      ok: false,
      message: "A plan is being put into force on Embedded: wait for its end, or abort it.",
    });
    store.applications.save({ ...application, state: "done", endedAt: new Date().toISOString() });
  });

  it("is noted as stopped though its engines cannot be ended, and ends them as soon as they can be, though it was removed since", async () => {
    const host = hostOf(cluster);
    let isStuck = true;
    const stuck = { ok: false, message: "It does not let go." } as const;
    const others = batchesOver(cluster.store, { ...host, stop: async (...asked) => (isStuck ? stuck : host.stop(...asked)) });
    const { store, environment } = cluster;
    const service = createBatchService({
      ...{ store, batches: others, cards: createCardStore("nowhere"), clusterOf: () => null },
      uploads: createUploads(environment.WEIR_STATE_DIR),
    });
    const order = orderOf({
      ensemble: ensembleOf(experts, aggregator),
      workers: [experts],
      questions: QUESTIONS,
      request: { concurrency: 1 },
    });
    const started = others.start(order, "ann");
    if (!started.ok) throw new Error(started.message);
    await until(() => (others.get(started.id)?.progress.expertAnswers.done ?? 0) >= 1);
    const message = "It is stopped. Its engines may still run, and the studio tries on to end them: It does not let go.";
    expect(await service.stop(started.id, "ann")).toEqual({ ok: false, message });
    expect(store.audit.list(10)).toContainEqual(expect.objectContaining({ action: "stop batch", actor: "ann", detail: message }));
    expect([others.get(started.id)?.state, (await standing()).length]).toEqual(["stopped", 1]);
    expect(service.remove(started.id, "ann")).toEqual({ ok: true });
    isStuck = false;
    await until(async () => (await standing()).length === 0);
    await others.close();
  });

  it("starts an engine again that was killed under it, and loses no question", async () => {
    const id = start({ request: { concurrency: 2 } });
    await until(() => (batches.get(id)?.progress.expertAnswers.done ?? 0) >= 10);
    const engine = batches.get(id)?.sessions.find(({ state }) => state === "running")?.engine;
    await emulatorOf(cluster).down(engine ?? "none");
    await until(() => batches.get(id)?.state !== "running");
    const batch = batches.get(id);
    expect(batch).toMatchObject({ state: "done", progress: { questions: { skipped: 40, aggregated: 20, open: 0 }, failures: [] } });
    expect(batch?.progress.retried).toBeGreaterThan(0);
    expect(await standing()).toEqual([]);
  });

  it("ends engines at the next start that a studio left which was killed while it stopped a batch, and no others", async () => {
    const id = start({ request: { concurrency: 1 } });
    await until(() => (batches.get(id)?.progress.expertAnswers.done ?? 0) >= 1);
    // As if the studio had been killed between the two.
    await batches.close();
    cluster.store.batches.setState(id, "stopped", null);
    const left = await standing();
    expect(left.length).toBeGreaterThan(0);
    expect(left.every((engine) => engine.startsWith(`batch-${id.slice(0, 8)}-experts-`))).toBe(true);
    batches = batchesOver(cluster.store, hostOf(cluster));
    batches.resumeAll();
    await until(async () => (await standing()).length === 0);
    expect(batches.get(id)).toMatchObject({ state: "stopped" });
  });
});
