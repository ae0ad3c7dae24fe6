import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createBatchService } from "@/server/api/ensembles/batchService";
import { createCardStore } from "@/server/cards/cardStore";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { emulatorOf, keepPrompts, until } from "@/server/profiling/testing/testProfileStudio";
import type { StoredBatchCall } from "@/server/store/batchRepository";
import type { BatchOrder } from "@/server/store/documents/batchOrder";
import { createUploads } from "@/server/store/uploads";
import { batchesOver, ensembleOf, hostOf, keepCluster, orderOf, panelOutcomes, questionsOf } from "./testing/testBatchStudio";

const experts = ["gemma-2-2b", "gemma-2-9b"];
const aggregator = "qwen2.5-7b";
const QUESTIONS = 12;
const ids = Array.from({ length: QUESTIONS }, (_, at) => `q${at}`);
const id = "0a1b2c3d-0000-4000-8000-000000000000";
const engine = "batch-0a1b2c3d-experts-w0-0";
const order = orderOf({ ensemble: ensembleOf(experts, aggregator), workers: experts.map((model) => [model]), questions: QUESTIONS });

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let batches: ReturnType<typeof batchesOver>;
beforeAll(async () => {
  cluster = await startTestCluster({ timeScale: 40, gpus: 2 });
  await emulatorOf(cluster).replay(panelOutcomes(ids, [...experts, "qwen2.5-3b"], aggregator));
  keepCluster(cluster.store, 2);
  keepPrompts(cluster.store, questionsOf(ids));
});
beforeEach(() => {
  batches = batchesOver(cluster.store, hostOf(cluster));
});
afterEach(async () => {
  await batches.close();
  for (const batch of cluster.store.batches.list()) cluster.store.batches.remove(batch.id);
});
afterAll(() => cluster?.stop());

/** A batch as left by a killed studio, with one call in flight. */
function keepOpen(own: BatchOrder): void {
  const { store } = cluster;
  const row = { id, createdAt: "2026-01-01T00:00:00.000Z", endedAt: null, actor: "a", clusterId: "embedded", promptSetId: "set" };
  store.batches.insert({ ...row, order: own, state: "running", pause: null });
  const call: StoredBatchCall = {
    ...{ batchId: id, stage: "experts", position: 0, model: experts[0] ?? "", state: "asked", at: "", engine, attempts: 1, lost: 0 },
    ...{ inputTokens: null, outputTokens: null, seconds: null, failure: null, vote: null, answer: null },
  };
  store.batches.saveCalls(id, [call]);
}

/** Runs `work` while the sessions of batches cannot be read. */
function withBrokenDisk(work: () => void): void {
  const { store } = cluster;
  const read = store.batches.sessions;
  store.batches.sessions = () => {
    throw Object.assign(new Error("no"), { code: "SQLITE_IOERR" });
  };
  try {
    work();
  } finally {
    store.batches.sessions = read;
  }
}

const told = (of: string) => batches.list().find((one) => one.id === of);
const standing = async () => (await emulatorOf(cluster).read()).engines.map((one) => one.id);
const callNow = () => cluster.store.batches.callsBetween(id, 0, 1)[0];
const diskFull = { kind: "problem", reason: expect.stringContaining("(SQLITE_IOERR). Its disk may be full") };

describe("a batch that cannot be taken up", () => {
  it("is told of as paused with the reason, writes nothing where it is looked at, and is stopped with its engines", async () => {
    const { sessions: _, ...ofAnOlderStudio } = order;
    keepOpen(ofAnOlderStudio as BatchOrder);
    const host = hostOf(cluster);
    const placements = [{ node: "node1", gpus: [0] }];
    const options = { signal: new AbortController().signal, report: () => undefined, planId: null };
    await host.start({ id: engine, model: experts[0] ?? "", precision: "bf16", gpu: "l40s", tp: 1, pp: 1, placements }, options);
    expect(await standing()).toEqual([engine]);
    batches.resumeAll();
    const reason = "The studio stopped (TypeError). Resume to try again, or stop the batch.";
    expect(told(id)).toMatchObject({ state: "paused", pause: { kind: "problem", reason } });
    expect(() => batches.get(id)).toThrow(reason);
    expect(callNow()).toMatchObject({ state: "asked", lost: 0 });
    expect(batches.start(order, "ann")).toMatchObject({ ok: false, message: expect.stringContaining('"nightly" runs on Embedded') });
    expect(batches.pause(id)).toEqual({ ok: false, message: '"nightly" is paused, so it cannot be paused.' });
    expect(batches.resume(id)).toEqual({ ok: false, message: reason });
    const { store, environment } = cluster;
    const service = createBatchService({
      ...{ store, batches, cards: createCardStore("nowhere"), clusterOf: () => null },
      uploads: createUploads(environment.WEIR_STATE_DIR),
    });
    expect(await service.stop(id, "ann")).toEqual({ ok: true });
    expect([told(id)?.state, await standing(), store.batches.runningOn("embedded")]).toEqual(["stopped", [], null]);
    expect(store.audit.list(1)).toEqual([expect.objectContaining({ action: "stop batch", subject: "nightly", actor: "ann" })]);
    expect(service.remove(id, "ann")).toEqual({ ok: true });
  });

  it("goes on when it is resumed and its disk can be read again, with what was under way counted as lost once", async () => {
    keepOpen(order);
    withBrokenDisk(() => batches.resumeAll());
    expect(told(id)).toMatchObject({ state: "paused", pause: diskFull });
    expect(() => batches.get(id)).toThrow("Its disk may be full");
    expect(callNow()).toMatchObject({ state: "asked", lost: 0 });
    withBrokenDisk(() => expect(batches.resume(id)).toMatchObject({ ok: false, message: expect.stringContaining("SQLITE_IOERR") }));
    expect(batches.resume(id)).toEqual({ ok: true });
    await until(() => batches.get(id)?.state === "done");
    expect(batches.get(id)?.progress).toMatchObject({ lost: 1, retried: 0, expertAnswers: { done: 2 * QUESTIONS } });
  });

  it("stays paused where an operator had paused it, until it is resumed", async () => {
    keepOpen(order);
    const pause = { kind: "operator", reason: "An operator paused it.", since: "2026-01-01T00:00:00.000Z" } as const;
    cluster.store.batches.setState(id, "paused", pause);
    withBrokenDisk(() => batches.resumeAll());
    expect(told(id)).toMatchObject({ state: "paused", pause: diskFull });
    expect(batches.resume(id)).toEqual({ ok: true });
    await until(() => batches.get(id)?.state === "done");
  });

  it("is there to be resumed where it had just been started", async () => {
    let own = "";
    withBrokenDisk(() => {
      const started = batches.start(order, "ann");
      if (started.ok) own = started.id;
    });
    expect(told(own)).toMatchObject({ state: "paused", pause: diskFull });
    expect(batches.resume(own)).toEqual({ ok: true });
    await until(() => batches.get(own)?.state === "done");
  });
});

it("fails to be stopped where the disk cannot take it, which keeps no studio from closing", async () => {
  keepOpen(order);
  withBrokenDisk(() => batches.resumeAll());
  const { store } = cluster;
  const { setState } = store.batches;
  store.batches.setState = () => {
    throw new Error("no room");
  };
  try {
    const stopped = batches.stop(id);
    const closed = batches.close();
    await expect(stopped).rejects.toThrow("no room");
    await expect(closed).resolves.toBeUndefined();
  } finally {
    store.batches.setState = setState;
  }
});

it("is paused, resumed or stopped by nobody else while it is being stopped", async () => {
  const started = batches.start(order, "ann");
  const own = started.ok ? started.id : "";
  const stopped = batches.stop(own);
  const refused = (what: string) => ({ ok: false, message: `"nightly" is being stopped, so it cannot be ${what}.` });
  expect([batches.pause(own), batches.resume(own), await batches.stop(own)]).toEqual([
    refused("paused"),
    refused("resumed"),
    refused("stopped"),
  ]);
  expect(await stopped).toEqual({ ok: true, left: null });
  expect(batches.pause(own)).toEqual({ ok: false, message: '"nightly" is stopped, so it cannot be paused.' });
});
