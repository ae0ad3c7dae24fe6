import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { BatchRequest } from "@/server/contracts/studio/batches";
import { keepPrompts, until } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { batchesOver, ensembleOf, keepCluster, orderOf, questionsOf } from "./testing/testBatchStudio";
import { type OpenQuestion, testEngineServer } from "./testing/testEngineServer";

const expert = "qwen2.5-7b";

let folder: string;
let store: Store;
let engine: Awaited<ReturnType<typeof testEngineServer>>;
let batches: ReturnType<typeof batchesOver>;
/** The handling of a question. */
let takes: (question: OpenQuestion, underWay: ReadonlyMap<string, OpenQuestion>) => void;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-session-"));
  store = openStore(folder);
  engine = await testEngineServer((...told) => takes(...told));
  batches = batchesOver(store, engine.host);
  keepCluster(store);
});
afterEach(async () => {
  await batches.close();
  await engine.stop();
  store.close();
  rmSync(folder, { recursive: true });
});

/** One session of one expert, whose vote decides each question. */
function begin(questions: number, request: Partial<BatchRequest>): string {
  keepPrompts(store, questionsOf(Array.from({ length: questions }, (_, at) => `q${at}`)));
  const ensemble = ensembleOf([expert, "qwen2.5-3b"], "qwen2.5-3b", { tau: 0.5 });
  const started = batches.start({ ...orderOf({ ensemble, workers: [[expert]], questions, request }), emulated: false }, "ann");
  if (!started.ok) throw new Error(started.message);
  return started.id;
}

const stateOf = (id: string) => batches.get(id)?.state;
const answersOf = (id: string) => batches.get(id)?.progress.expertAnswers;
const answered = (question: OpenQuestion): void => question.answer();
/** Calls in flight. */
const askedOf = (id: string): number => store.batches.callsBetween(id, 0, 1000).filter(({ state }) => state === "asked").length;
/** Stored sessions to which later placements are fitted. */
const sessionsKept = () => store.sessionRows.list("l40s", [expert]).filter(({ prompts }) => prompts > 0);

it("asks as many at once as before where it is resumed while a long call is still under way, and keeps no row of such a session", async () => {
  let answers = 0;
  takes = (question) => {
    if (question.id === "q3" || answers === 20) return;
    answers += 1;
    question.answer();
  };
  const id = begin(60, { concurrency: 8 });
  await until(() => engine.underWay.size === 8);
  expect(batches.pause(id)).toEqual({ ok: true });
  for (const question of [...engine.underWay.values()]) if (question.id !== "q3") question.answer();
  await until(() => askedOf(id) === 1);
  expect([...engine.underWay.keys()]).toEqual(["q3"]);
  expect(batches.resume(id)).toEqual({ ok: true });
  await until(() => engine.underWay.size === 8);
  takes = answered;
  for (const question of [...engine.underWay.values()]) question.answer();
  await until(() => stateOf(id) === "done");
  expect(answersOf(id)).toMatchObject({ done: 60, failed: 0 });
  expect(sessionsKept()).toEqual([]);
});

it("asks no more at once than an engine takes that is too busy for more, and loses no question to it", async () => {
  const waiting: OpenQuestion[] = [];
  let refused = 0;
  takes = (question, { size }) => {
    if (size > 4) {
      refused += 1;
      question.refuse(429);
    } else waiting.push(question);
  };
  const id = begin(40, { concurrency: 16, attempts: 1 });
  // Four are held until all other concurrent ones have been refused.
  await until(() => refused >= 12);
  await until(() => {
    for (const question of waiting.splice(0)) question.answer();
    return stateOf(id) === "done";
  });
  expect(batches.get(id)?.progress).toMatchObject({ expertAnswers: { done: 40, failed: 0 }, failures: [], retried: 0, lost: 0 });
  expect(sessionsKept()).toEqual([]);
});

it.each([400, 500])("pauses where every question is answered %i, and goes on with almost all when it is mended", async (status) => {
  takes = (question) => question.refuse(status);
  // No call waits for its turn if all are made at once.
  const id = begin(200, { concurrency: 256 });
  await until(() => stateOf(id) === "paused");
  const says = status === 400 ? "refused (answered 400)" : "answered 500";
  expect(batches.get(id)?.pause).toMatchObject({
    kind: "problem",
    reason: expect.stringMatching(
      /^qwen2\.5-7b as batch-\w+-experts-w0-0 on Embedded fails on every question: the last 20, all different, had no answer \(".*"\)\. Resume when it is mended/,
    ),
  });
  expect(batches.get(id)?.pause?.reason).toContain(says);
  // Calls that are about to be made are recorded in this turn of the event loop.
  await new Promise((wake) => setImmediate(wake));
  await until(() => askedOf(id) === 0);
  takes = answered;
  expect(batches.resume(id)).toEqual({ ok: true });
  await until(() => stateOf(id) === "done");
  // Refused questions end at once, until it is detected that all are refused.
  const failed = status === 400 ? 19 : 0;
  expect(answersOf(id)).toMatchObject({ done: 200 - failed, failed });
});

it("asks on beside a long call where another was told that nobody is there, though the engine stands", async () => {
  const told = new Set<string>();
  takes = (question) => {
    if (question.id === "q0") return;
    const isFirst = question.id === "q5" && !told.has(question.id);
    told.add(question.id);
    if (isFirst) question.refuse(503);
    else question.answer();
  };
  const id = begin(30, { concurrency: 4 });
  await until(() => answersOf(id)?.done === 29);
  expect([...engine.underWay.keys()]).toEqual(["q0"]);
  engine.underWay.get("q0")?.answer();
  await until(() => stateOf(id) === "done");
  expect(batches.get(id)?.progress).toMatchObject({ expertAnswers: { done: 30, failed: 0 }, retried: 1 });
});

it("asks on where single calls are told that nobody is there, and all others are answered while it looks whether the engine stands", async () => {
  const told = new Set<string>();
  takes = (question) => {
    const isRefused = Number(question.id.slice(1)) % 20 === 0 && !told.has(question.id);
    told.add(question.id);
    if (isRefused) question.refuse(503);
    else setTimeout(question.answer, 50);
  };
  const id = begin(260, { concurrency: 64 });
  await until(() => stateOf(id) !== "running");
  expect(batches.get(id)).toMatchObject({ state: "done", pause: null });
  expect(batches.get(id)?.progress).toMatchObject({ expertAnswers: { done: 260, failed: 0 }, retried: 13 });
});

it("waits for what an engine that stands has under way, however often it was told meanwhile that nobody is there", async () => {
  let refused = 0;
  const waiting: OpenQuestion[] = [];
  takes = (question) => {
    // One for each check by a user.
    if (refused < Math.min(3, engine.started.length)) {
      refused += 1;
      question.refuse(503);
    } else waiting.push(question);
  };
  const id = begin(80, { concurrency: 64 });
  await until(() => engine.started.length === 4 || stateOf(id) !== "running");
  expect([stateOf(id), refused, waiting.length > 60]).toEqual(["running", 3, true]);
  takes = answered;
  for (const question of waiting) question.answer();
  await until(() => stateOf(id) === "done");
  expect(answersOf(id)).toMatchObject({ done: 80, failed: 0 });
});

it("pauses where an engine that stands refuses its key, and says what it answered", async () => {
  takes = (question) => question.refuse(401);
  const id = begin(40, { concurrency: 2 });
  await until(() => stateOf(id) === "paused");
  expect(batches.get(id)?.pause?.reason).toMatch(
    /^qwen2\.5-7b does not answer as .*: it was up each of the last 3 times, and answered nothing that it was asked \(last: answered 401\)\./,
  );
});

it("takes no time for that of answering in which it is paused, though a call is still under way", async () => {
  takes = (question) => {
    if (question.id !== "q3") question.answer();
  };
  const id = begin(60, { concurrency: 8 });
  await until(() => answersOf(id)?.done === 59);
  const seconds = () => batches.get(id)?.sessions[0]?.measured.seconds ?? Number.NaN;
  const passing = async (): Promise<number> => {
    const before = seconds();
    await new Promise((wake) => setTimeout(wake, 20));
    return seconds() - before;
  };
  expect(await passing()).toBeGreaterThan(0);
  expect(batches.pause(id)).toEqual({ ok: true });
  // It detects that in its next turn of the event loop.
  await passing();
  expect(await passing()).toBe(0);
  expect(batches.resume(id)).toEqual({ ok: true });
  await passing();
  expect(await passing()).toBeGreaterThan(0);
  engine.underWay.get("q3")?.answer();
  await until(() => stateOf(id) === "done");
});

it("pauses when its engine was brought up three times and was gone without an answer each time", async () => {
  const gone = (question: OpenQuestion): void => {
    void engine.host.stop(engine.started.at(-1) ?? "", { signal: new AbortController().signal, report: () => undefined, planId: null });
    question.drop();
  };
  takes = gone;
  const id = begin(40, { concurrency: 2 });
  await until(() => stateOf(id) === "paused");
  expect(batches.get(id)?.pause?.reason).toMatch(
    /^qwen2\.5-7b does not answer as .*: it was brought up 3 times and gone without one answer \(last: (closed|reset) the connection\)\./,
  );
  expect(engine.started).toHaveLength(3);
  takes = answered;
  expect(batches.resume(id)).toEqual({ ok: true });
  await until(() => stateOf(id) === "done");
  expect(answersOf(id)).toMatchObject({ done: 40, failed: 0 });
});

it("can be stopped while it waits for an engine that is too busy for anything", async () => {
  let refused = 0;
  takes = (question) => {
    refused += 1;
    question.refuse(429, { "retry-after": "60" });
  };
  const id = begin(3, { concurrency: 1 });
  await until(() => refused > 0);
  expect(await batches.stop(id)).toEqual({ ok: true, left: null });
  expect(answersOf(id)).toMatchObject({ done: 0, failed: 0 });
});
