import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { processTable } from "@/server/processes/processIdentity";
import { testEngines } from "@/server/processes/testing/testEngines";
import { keepPrompts, until } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { batchesOver, ensembleOf, keepCluster, orderOf, questionsOf } from "./testing/testBatchStudio";

/** Answers with its process id, refuses one marked question, and exits on another. */
const mortal = `
const { createServer } = require("node:http");
const [, , name, port] = process.argv;
const json = (response, body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
createServer(async (request, response) => {
  if (request.url === "/health") return response.end();
  if (request.url === "/v1/models") return json(response, { object: "list", data: [{ id: name, object: "model" }] });
  let text = "";
  for await (const piece of request) text += piece;
  if (text.includes("poison")) process.exit(9);
  if (text.includes("refuse")) return response.writeHead(400).end("{}");
  setTimeout(() => json(response, {
    id: "1", object: "chat.completion", created: 1, model: name,
    choices: [{ index: 0, message: { role: "assistant", content: "I am " + process.pid }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
  }), 20);
}).listen(Number(port), "127.0.0.1");
`;

let folder: string;
let store: Store;
let engines: ReturnType<typeof testEngines>;
let batches: ReturnType<typeof batchesOver>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-batch-"));
  store = openStore(folder);
  engines = testEngines();
  const file = join(folder, "mortal.cjs");
  writeFileSync(file, mortal);
  const script = [process.execPath, file, "{servedName}", "{port}"];
  const templates = { script };
  batches = batchesOver(store, engines.host({ templates }));
  keepCluster(store);
});
afterEach(async () => {
  await batches.close();
  engines.clear();
  store.close();
  rmSync(folder, { recursive: true });
});

const experts = ["qwen2.5-3b", "qwen2.5-7b"];
const pidOf = (text: string | null | undefined): number => Number(/I am (\d+)/.exec(text ?? "")?.[1]);

function begin(ids: readonly string[], change: Partial<Parameters<typeof orderOf>[0]> = {}): string {
  keepPrompts(store, questionsOf(ids));
  const ensemble = ensembleOf(experts, "qwen2.5-3b", { extraction: { kind: "number" } });
  const started = batches.start({ ...orderOf({ ensemble, workers: [experts], questions: ids.length, ...change }), emulated: false }, "ann");
  if (!started.ok) throw new Error(started.message);
  return started.id;
}

/** A zombie process does not count. */
const isAlive = (pid: number): boolean => processTable.startOf(pid) !== null;

/** Sessions that were stored as measured ones, and models of which only a load was. */
const measured = () => {
  const rows = store.sessionRows.list("l40s", experts).toReversed();
  for (const { origin, loadSeconds, concurrency } of rows)
    expect([origin, loadSeconds, concurrency]).toEqual(["measured", expect.any(Number), expect.any(Number)]);
  return {
    sessions: rows.flatMap(({ model, prompts, seconds }) => (prompts > 0 && seconds > 0 ? [[model, prompts]] : [])),
    loads: rows.flatMap(({ model, prompts, seconds }) => (prompts === 0 && seconds === 0 ? [model] : [])),
  };
};

it("loads processes one after the other on the same GPU, and ends each before the next", async () => {
  const ids = Array.from({ length: 12 }, (_, at) => `q${at}`);
  const id = begin(ids);
  await until(() => batches.get(id)?.state !== "running");
  expect(batches.get(id)).toMatchObject({ state: "done", progress: { questions: { aggregated: 12 }, failures: [] } });
  const results = [...(batches.results(id) ?? [])];
  const pids = results.map(({ text, experts: given }) => [...given.map((one) => pidOf(one.text)), pidOf(text)]);
  // One process for each session: two experts and the aggregator.
  expect(new Set(pids.flat()).size).toBe(3);
  expect(new Set(pids.map((own) => own.join())).size).toBe(1);
  expect(pids.flat().filter(isAlive)).toEqual([]);
  expect(measured()).toEqual({
    sessions: [
      ["qwen2.5-3b", 12],
      ["qwen2.5-7b", 12],
    ],
    // The aggregator's; its answering depends on the gate.
    loads: ["qwen2.5-3b"],
  });
});

it("loses one question that its engine dies of each time, and no other", async () => {
  const ids = [...Array.from({ length: 5 }, (_, at) => `q${at}`), "poison", ...Array.from({ length: 14 }, (_, at) => `r${at}`)];
  const id = begin(ids);
  await until(() => batches.get(id)?.state !== "running");
  const batch = batches.get(id);
  expect(batch).toMatchObject({
    state: "done",
    progress: {
      expertAnswers: { done: 38, failed: 2 },
      questions: { aggregated: 19, unanswered: 1 },
      failures: [{ failure: "engine gone", calls: 3 }],
    },
  });
  const results = [...(batches.results(id) ?? [])];
  expect(results.filter(({ verdict }) => verdict === "unanswered").map((result) => result.id)).toEqual(["poison"]);
  expect(measured()).toEqual({ sessions: [], loads: [...experts, "qwen2.5-3b"] });
});

it("takes no session for a measured one of which a question failed, whose time would count and its answer not", async () => {
  const id = begin(["q0", "refuse", "q1"], { workers: [["qwen2.5-7b"]] });
  await until(() => batches.get(id)?.state !== "running");
  expect(batches.get(id)).toMatchObject({ state: "done", progress: { expertAnswers: { done: 2, failed: 1 } } });
  expect(measured()).toEqual({ sessions: [], loads: ["qwen2.5-7b", "qwen2.5-3b"] });
});

it("pauses with the reason and the way out where a model cannot be loaded, and goes on when it can", async () => {
  const file = join(folder, "mortal.cjs");
  writeFileSync(file, 'console.error("ValueError: no such weights"); process.exit(3);');
  const id = begin(["q0", "q1"]);
  await until(() => batches.get(id)?.state === "paused");
  expect(batches.get(id)?.pause).toMatchObject({
    kind: "problem",
    reason: expect.stringMatching(
      /^qwen2\.5-3b could not be loaded as batch-[0-9a-f]{8}-experts-w0-0 on Embedded: .*Resume to try again, or stop the batch\.$/s,
    ),
  });
  expect(store.audit.list(10)).toContainEqual(expect.objectContaining({ action: "pause batch", actor: "studio", subject: "nightly" }));
  writeFileSync(file, mortal);
  expect(batches.resume(id)).toEqual({ ok: true });
  await until(() => batches.get(id)?.state === "done");
  expect(batches.get(id)?.progress.questions).toMatchObject({ aggregated: 2 });
});

it("pauses while its disk is full, asks nothing twice, and goes on when it can write again", async () => {
  const ids = Array.from({ length: 30 }, (_, at) => `q${at}`);
  const id = begin(ids, { request: { concurrency: 3 } });
  await until(() => (batches.get(id)?.progress.expertAnswers.done ?? 0) >= 5);
  const write = store.batches.saveCalls;
  store.batches.saveCalls = () => {
    throw Object.assign(new Error("no room"), { code: "SQLITE_FULL" });
  };
  await until(() => batches.get(id)?.state === "paused");
  expect(batches.get(id)?.pause?.reason).toMatch(/^The studio stopped \(SQLITE_FULL\)\. Its disk may be full/);
  const held = batches.get(id)?.sessions.find(({ stage, state }) => stage === "experts" && state === "running")?.model;
  store.batches.saveCalls = write;
  expect(batches.resume(id)).toEqual({ ok: true });
  await until(() => batches.get(id)?.state === "done");
  const calls = store.batches.callsBetween(id, 0, ids.length);
  expect(calls).toHaveLength(90);
  expect(calls.every(({ state, attempts, lost }) => state === "done" && attempts === 1 + lost)).toBe(true);
  expect(calls.every(({ lost }) => lost === 0)).toBe(true);
  const whole = experts.filter((model) => model !== held).map((model) => [model, 30]);
  expect(measured().sessions).toEqual(whole);
});

it("leaves no question undecided where a read fails after its answer is on disk, and does not take every error for a full disk", async () => {
  const ids = Array.from({ length: 20 }, (_, at) => `q${at}`);
  const read = store.batches.callsBetween;
  const failing = (errors: Error[]): void => {
    store.batches.callsBetween = (...range) => {
      const [error] = errors.splice(0, 1);
      if (error !== undefined) throw error;
      return read(...range);
    };
  };
  const id = begin(ids, { request: { concurrency: 3 } });
  const pausedFor = async (): Promise<string> => {
    await until(() => batches.get(id)?.state === "paused");
    return batches.get(id)?.pause?.reason ?? "";
  };
  failing([Object.assign(new Error("no"), { code: "SQLITE_IOERR" }), Object.assign(new Error("no"), { code: "SQLITE_IOERR" })]);
  expect(await pausedFor()).toContain("Its disk may be full");
  failing([new TypeError("no")]);
  expect(batches.resume(id)).toEqual({ ok: true });
  await until(async () => (await pausedFor()).includes("TypeError"));
  expect(batches.get(id)?.pause?.reason).toBe("The studio stopped (TypeError). Resume to try again, or stop the batch.");
  expect(batches.resume(id)).toEqual({ ok: true });
  await until(() => batches.get(id)?.state !== "running");
  expect(batches.get(id)).toMatchObject({
    state: "done",
    progress: { expertAnswers: { done: 40 }, questions: { aggregated: 20, open: 0 }, lost: 0, retried: 0 },
  });
  expect([...(batches.results(id) ?? [])].map((result) => result.id)).toEqual(ids);
});
