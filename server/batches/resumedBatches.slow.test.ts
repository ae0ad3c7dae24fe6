import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { emulatorOf, keepPrompts, until } from "@/server/profiling/testing/testProfileStudio";
import type { StoredBatchCall } from "@/server/store/batchRepository";
import {
  batchesOver,
  batchStudio,
  ensembleOf,
  hostOf,
  keepCluster,
  letterOf,
  orderOf,
  panelOutcomes,
  questionsOf,
} from "./testing/testBatchStudio";

const experts = ["gemma-2-2b", "gemma-2-9b", "qwen2.5-3b"];
const aggregator = "qwen2.5-7b";
/** More than are read in one turn of the event loop. */
const QUESTIONS = 3000;
const ids = Array.from({ length: QUESTIONS }, (_, at) => `q${at}`);
/** Questions in flight at an expert when the studio was killed, and one that was to be asked again. */
const UNDER_WAY = [0, 700, 1400, 2100, 2999];
const TO_RETRY = 1000;
/** Experts disagree on the first of these, and the aggregator has been called for it already. */
const SPLIT = [3, 1500];

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let studio: Awaited<ReturnType<typeof batchStudio>>;
let batches: ReturnType<typeof batchesOver>;
let count = 0;
let id = "";
beforeAll(async () => {
  [cluster, studio] = await Promise.all([startTestCluster({ timeScale: 40, gpus: 1 }), batchStudio()]);
  await emulatorOf(cluster).replay(panelOutcomes(ids, experts, aggregator));
  keepCluster(cluster.store, 1);
  keepPrompts(
    cluster.store,
    questionsOf(ids, (one) => (ids.indexOf(one) < 1000 ? letterOf(ids.indexOf(one)) : null)),
  );
});
beforeEach(() => {
  count += 1;
  id = `${String(count).padStart(8, "0")}-0000-4000-8000-000000000000`;
  batches = batchesOver(cluster.store, hostOf(cluster));
});
afterEach(async () => {
  await batches.close();
  cluster.store.batches.remove(id);
});
afterAll(async () => {
  studio?.clear();
  await cluster?.stop();
});

/** A batch as left by a killed studio: almost all is answered. */
function keepKilled(state: "running" | "paused"): void {
  const { store } = cluster;
  const order = orderOf({ ensemble: ensembleOf(experts, aggregator), workers: [experts], questions: QUESTIONS });
  const pause = { kind: "operator", reason: "An operator paused it.", since: "2026-01-01T00:00:00.000Z" } as const;
  const row = { id, createdAt: "2026-01-01T00:00:00.000Z", endedAt: null, actor: "a", clusterId: "embedded", promptSetId: "set", order };
  store.batches.insert({ ...row, state, pause: state === "paused" ? pause : null });
  const [first = ""] = experts;
  const calls = ids.flatMap((_, position) =>
    experts.map((model, expert): StoredBatchCall => {
      const letter = letterOf(SPLIT.includes(position) && expert === 2 ? position + 1 : position);
      const done = callOf({ position, model, vote: letter, answer: `Answer: ${letter}` });
      const isOut = model === first && (UNDER_WAY.includes(position) || position === TO_RETRY);
      if (!isOut) return done;
      return { ...done, state: position === TO_RETRY ? "waiting" : "asked", vote: null, answer: null, outputTokens: null, seconds: null };
    }),
  );
  const [asked = 0] = SPLIT;
  const aggregated = callOf({ stage: "aggregator", position: asked, model: aggregator, vote: letterOf(asked), answer: "" });
  store.batches.saveCalls(id, [...calls, aggregated]);
}

const callOf = (
  change: Pick<StoredBatchCall, "position" | "model" | "vote" | "answer"> & Partial<Pick<StoredBatchCall, "stage">>,
): StoredBatchCall => ({
  ...{ batchId: id, stage: "experts", state: "done", attempts: 1, lost: 0, at: "", engine: null, inputTokens: 1, outputTokens: 1 },
  ...{ seconds: 1, failure: null },
  ...change,
});

const progressOf = () => batches.get(id)?.progress;
const isRead = (): boolean => progressOf()?.questionsRead === null;
/** Calls on disk. */
const callsNow = () => cluster.store.batches.callsBetween(id, 0, QUESTIONS);
const lostNow = () => callsNow().flatMap(({ position, lost }) => (lost > 0 ? [[position, lost]] : []));
const lostOnce = UNDER_WAY.map((position) => [position, 1]);

/** Everything is there, exactly once. */
async function expectWhole(): Promise<void> {
  await until(() => batches.get(id)?.state === "done", 60_000);
  const calls = callsNow();
  expect(calls).toHaveLength(QUESTIONS * experts.length + SPLIT.length);
  const wanted = ({ position, model }: { readonly position: number; readonly model: string }): number =>
    model === experts[0] && (UNDER_WAY.includes(position) || position === TO_RETRY) ? 2 : 1;
  expect(calls.filter((call) => call.state !== "done" || call.attempts !== wanted(call))).toEqual([]);
  expect(lostNow()).toEqual(lostOnce);
  const told = batches.get(id);
  expect(told?.progress).toMatchObject({
    expertAnswers: { done: QUESTIONS * experts.length, failed: 0 },
    questions: { skipped: QUESTIONS - SPLIT.length, aggregated: SPLIT.length, unanswered: 0, open: 0 },
    ...{ lost: UNDER_WAY.length, retried: 1, questionsRead: null },
  });
  expect(told?.accuracy).toEqual({ right: 1000, questions: 1000 });
  expect([...(batches.results(id) ?? [])].map((result) => result.id)).toEqual(ids);
}

it("counts all that is on disk once, tells how far it has read, and begins nothing before it is through", async () => {
  keepKilled("running");
  batches.resumeAll();
  const first = batches.get(id);
  expect(first?.progress).toMatchObject({ etaSeconds: null, questionsRead: expect.any(Number) });
  const { questionsRead = 0, questions } = first?.progress ?? {};
  expect(questionsRead).toBeLessThan(QUESTIONS);
  // Of those read only the first is open, and one is decided by the aggregator.
  expect(questions).toEqual({
    skipped: (questionsRead ?? 0) - 2,
    aggregated: 1,
    unanswered: 0,
    open: QUESTIONS - (questionsRead ?? 0) + 1,
    toAggregate: 1,
  });
  const begun = callsNow().filter(({ state }) => state === "asked");
  expect(begun.map(({ position }) => position)).toEqual(UNDER_WAY.slice(1));
  await expectWhole();
});

it("can be paused while it is taken up, and goes on where it is resumed", async () => {
  keepKilled("running");
  batches.resumeAll();
  expect([batches.pause(id), isRead()]).toEqual([{ ok: true }, false]);
  await until(isRead);
  expect(cluster.store.batches.get(id)).toMatchObject({ state: "paused", pause: { kind: "operator" } });
  expect(lostNow()).toEqual(lostOnce);
  expect(progressOf()).toMatchObject({ lost: UNDER_WAY.length, retried: 1, questions: { open: UNDER_WAY.length + 2 } });
  expect(batches.resume(id)).toEqual({ ok: true });
  await expectWhole();
});

it("can be stopped while it is taken up, and is then told of as it stands on disk", async () => {
  keepKilled("running");
  batches.resumeAll();
  expect(isRead()).toBe(false);
  expect(await batches.stop(id)).toEqual({ ok: true, left: null });
  expect(batches.get(id)?.state).toBe("stopped");
  await until(isRead);
  const out = UNDER_WAY.length + 1;
  expect(progressOf()).toMatchObject({
    expertAnswers: { done: QUESTIONS * experts.length - out, failed: 0 },
    questions: { skipped: QUESTIONS - SPLIT.length - out, aggregated: 1, open: out + 1 },
  });
  expect([...(batches.results(id) ?? [])]).toHaveLength(QUESTIONS - out - 1);
});

it("is let go of while it is taken up, and the next studio counts what was lost once", async () => {
  keepKilled("running");
  batches.resumeAll();
  expect(isRead()).toBe(false);
  await batches.close();
  expect(lostNow().length).toBeLessThan(UNDER_WAY.length);
  batches = batchesOver(cluster.store, hostOf(cluster));
  batches.resumeAll();
  await expectWhole();
});

it("counts what was lost once though studios are killed while they take it up", async () => {
  // A paused batch is read, and none of its questions are asked.
  keepKilled("paused");
  for (const isDue of [() => lostNow().length > 0, () => lostNow().length > 2]) {
    const child = studio.run(cluster);
    const exit = once(child, "exit");
    await until(isDue);
    child.kill("SIGKILL");
    await exit;
  }
  batches.resumeAll();
  await until(isRead);
  expect(lostNow()).toEqual(lostOnce);
  expect(progressOf()).toMatchObject({ lost: UNDER_WAY.length, retried: 1 });
  expect(batches.resume(id)).toEqual({ ok: true });
  await expectWhole();
});

it("pauses where the disk cannot be read while it is taken up, and reads on from there when it is resumed", async () => {
  keepKilled("running");
  const { store } = cluster;
  const read = store.batches.callsBetween;
  const broken = Object.assign(new Error("no"), { code: "SQLITE_IOERR" });
  const [unread = 0] = UNDER_WAY.slice(2);
  store.batches.callsBetween = (batchId, from, before) => {
    if (from <= unread && unread < before) throw broken;
    return read(batchId, from, before);
  };
  batches.resumeAll();
  await until(() => batches.get(id)?.state === "paused");
  expect(batches.get(id)).toMatchObject({
    pause: { kind: "problem", reason: expect.stringContaining("Its disk may be full") },
    progress: { questionsRead: expect.any(Number) },
  });
  expect(progressOf()?.questionsRead).toBeLessThanOrEqual(unread);
  store.batches.callsBetween = read;
  expect(batches.resume(id)).toEqual({ ok: true });
  await expectWhole();
});

it("says why one that is over cannot be read, and reads it anew when it is asked for again", async () => {
  keepKilled("running");
  const { store } = cluster;
  store.batches.setState(id, "stopped", null);
  const read = store.batches.callsBetween;
  store.batches.callsBetween = () => {
    throw Object.assign(new Error("the disk is gone"), { code: "SQLITE_IOERR" });
  };
  expect(progressOf()?.questionsRead).toBe(0);
  await new Promise((wake) => setImmediate(wake));
  expect(() => batches.get(id)).toThrow("the disk is gone");
  store.batches.callsBetween = read;
  await until(isRead);
  expect(progressOf()).toMatchObject({ questions: { aggregated: 1 }, lost: 0, retried: 1, etaSeconds: null });
  expect(batches.get(id)?.accuracy).toEqual({ right: 998, questions: 998 });
});
