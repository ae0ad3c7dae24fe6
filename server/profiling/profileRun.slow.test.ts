import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConnectionPool, createConnectionPool } from "@/server/calls/upstream";
import type { Answerer, Measure, ProfileRequest, Prompt } from "@/server/contracts/studio";
import { openStore, type Store } from "@/server/store/store";
import { createMeasureReadings } from "./measures/readings";
import { type ProfileRun, resumeProfile } from "./profileRun";
import { type HeardRequest, type Said, testModels } from "./testing/testModels";
import { keepProfile, keepPrompts, until } from "./testing/testProfileStudio";

let folder: string;
let store: Store;
let connections: ConnectionPool;
let server: Awaited<ReturnType<typeof testModels>> | null = null;
let run: ProfileRun | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-profile-"));
  store = openStore(folder);
  connections = createConnectionPool(600);
});
afterEach(async () => {
  await run?.close();
  await connections.close();
  await server?.close();
  store.close();
  rmSync(folder, { recursive: true });
  run = null;
});

const marker = "MARKER-7a1";
const prompts = (count: number, body: object = {}): readonly Prompt[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: `p${at}`, category: "", atMs: null, reference: null, test: null },
    body: { messages: [{ role: "user", content: `${marker} question ${at}` }], ...body },
  }));

const at = (url: string, model: string, usd = 0): Answerer => ({
  model,
  at: { kind: "url", url },
  usdPerMillionInputTokens: usd,
  usdPerMillionOutputTokens: usd,
});
const rubric = (judge: Answerer, repeats = 1): Measure => ({ id: "judged", name: "judged", kind: "rubric", judge, rubric: null, repeats });

/** Starts a job over a server with the given answers. */
async function begin(
  say: (request: HeardRequest, count: number) => Said,
  change: Partial<ProfileRequest> & { readonly usd?: number } = {},
  asked = prompts(6),
) {
  server = await testModels(say);
  const { usd = 0, ...rest } = change;
  const setId = keepPrompts(store, asked);
  const id = keepProfile(store, setId, {
    models: [at(server.url, "small", usd)],
    measures: [rubric(at(server.url, "judge", usd))],
    ...{ concurrency: 2, requestsPerMinute: null, capUsd: null, maxOutputTokens: 50, keepAnswers: true },
    ...rest,
  });
  const profile = store.profiles.get(id);
  if (profile === null) throw new Error("the job is gone");
  const measures = createMeasureReadings({ problem: async () => null, passes: async () => null });
  const ground = { clusterOf: () => null, clusterName: (one: string) => one, connections };
  const begun = await resumeProfile(profile, { ...ground, store, measures, limits: { placeMs: 500 } });
  run = begun;
  const rows = () => store.profiles.callsBetween(id, 0, 1000);
  return { id, run: begun, server, rows, over: () => until(() => begun.state !== "running" && begun.inFlight() === 0, 20_000) };
}

const answers = (request: HeardRequest): Said => ({ text: request.model === "judge" ? "70" : `answer of ${request.messages[0]?.content}` });

describe("a profile's run", () => {
  it("asks with the prompt's own body, and bounds the answer only where the prompt does not", async () => {
    const asked = [...prompts(1, { max_tokens: 7, temperature: 0.5, n: 3, model: "theirs" }), ...prompts(1)];
    const { server: heard, over, rows, run: job } = await begin(answers, {}, asked);
    await over();
    expect(job.state).toBe("done");
    const bodies = heard.heard.map(({ request }) => request).filter(({ model }) => model === "small");
    expect(bodies.find(({ max_tokens }) => max_tokens === 7)).toMatchObject({
      temperature: 0.5,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(bodies.find(({ max_tokens }) => max_tokens === 7)).not.toHaveProperty("n");
    expect(bodies.find(({ max_tokens }) => max_tokens === 50)).toBeDefined();
    const [answer] = rows().filter(({ measureId }) => measureId === "");
    expect(answer).toMatchObject({ state: "done", attempts: 1, lost: 0, inputTokens: `${marker} question 0`.length, engine: null });
    expect(answer?.ttftSeconds).toBeLessThanOrEqual(answer?.seconds ?? 0);
    expect(store.profiles.answer("job", 0, "small")).toBe(`answer of ${marker} question 0`);
    expect(rows().filter(({ measureId }) => measureId === "judged")).toMatchObject([{ score: 70 }, { score: 70 }]);
  });

  it("counts replies of a judge that hold no score by what is wrong with them, and goes on", async () => {
    const replies = ["good answer", "eighty", "140", "", "-3", "88"];
    const {
      over,
      run: job,
      rows,
    } = await begin((request) => {
      if (request.model !== "judge") return answers(request);
      return { text: replies[Number(/question (\d)/.exec(request.messages[0]?.content ?? "")?.[1])] ?? "" };
    });
    await over();
    expect(job.state).toBe("done");
    expect(job.tally.measure("judged")).toMatchObject({
      done: 6,
      failed: 0,
      scored: 1,
      score: 88,
      unscored: { "no-number": 2, "out-of-range": 2, empty: 1 },
    });
    expect(rows().every(({ state }) => state === "done")).toBe(true);
  });

  it("waits as long as it is asked to, and makes no attempt of it", async () => {
    let waits = 0;
    const {
      over,
      server: heard,
      run: job,
    } = await begin((request, count) => {
      if (request.model === "small" && count === 1) return { status: 429, headers: { "retry-after": "1" } };
      waits += 1;
      return answers(request);
    });
    await over();
    expect(job.state).toBe("done");
    expect(waits).toBe(12);
    const asked = heard.heard.filter(({ request }) => request.model === "small").map(({ atMs }) => atMs);
    // One other may have been in flight when the first was answered.
    expect((asked[2] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  it("pauses when a model is down, with the reason and no word of a prompt, and goes on when it is back", async () => {
    const { id, over, server: heard, run: job } = await begin(answers, {}, prompts(30));
    await until(() => job.tally.model("small").done >= 5);
    await heard.down();
    await over();
    expect(job.pausedFor).toMatchObject({
      kind: "model-down",
      reason: expect.stringMatching(
        /(small|judge) at 127\.0\.0\.1:\d+ is down: its last \d+ calls failed, it (refused|reset|closed) the connection/,
      ),
    });
    expect(JSON.stringify(store.profiles.get(id)?.pause)).not.toContain(marker);
    expect(store.profiles.get(id)?.state).toBe("paused");
    await heard.up();
    job.resume(null);
    await over();
    expect(job.state).toBe("done");
    expect(job.ledger.models).toEqual([{ planned: 30, done: 30, failed: 0 }]);
    expect(job.ledger.measures).toEqual([{ planned: 30, done: 30, failed: 0 }]);
  });

  it("pauses when nobody lets it in", async () => {
    const { over, run: job } = await begin(() => ({ status: 401, text: marker }));
    await over();
    expect(job.pausedFor?.reason).toMatch(/^small at 127\.0\.0\.1:\d+ is down: its last \d calls failed, it answered 401\./);
  });

  it("leaves a prompt out that is refused, and tells a broken answer from one, without their words", async () => {
    let torn = 0;
    const {
      over,
      rows,
      run: job,
    } = await begin((request) => {
      const [, question] = /question (\d)/.exec(request.messages[0]?.content ?? "") ?? [];
      if (request.model === "small" && question === "2") return { status: 400, text: `${marker} is too long` };
      if (request.model === "small" && question === "3" && torn++ < 2) return "torn";
      return answers(request);
    });
    await over();
    expect(job.state).toBe("done");
    expect(job.ledger.models).toEqual([{ planned: 6, done: 5, failed: 1 }]);
    expect(job.ledger.measures).toEqual([{ planned: 6, done: 5, failed: 1 }]);
    expect(job.tally.failures(5)).toEqual([{ reason: "small answered 400.", calls: 1 }]);
    expect(rows().find(({ position, measureId }) => position === 3 && measureId === "")).toMatchObject({
      state: "done",
      attempts: 3,
      lost: 0,
    });
    expect(JSON.stringify(rows())).not.toContain(marker);
  });

  it("takes whole answers where an address does not stream, and counts tokens where it does not", async () => {
    const { over, rows } = await begin((request) => {
      if (request.stream) return { status: 400, text: "stream_options is not supported" };
      return { text: request.model === "judge" ? "70" : "12345678", usage: false };
    });
    await over();
    expect(rows().filter(({ measureId }) => measureId === "")[0]).toMatchObject({
      state: "done",
      inputTokens: null,
      outputTokens: 2,
      ttftSeconds: null,
    });
  });

  it("pauses before it could pass its cap with the figures, and has not passed it at any instant", async () => {
    const capUsd = 0.012;
    const { id, over, run: job, rows } = await begin(answers, { usd: 10, capUsd }, prompts(40));
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(
        most,
        rows().reduce((sum, { usd }) => sum + usd, 0),
      );
    }, 5);
    await over();
    clearInterval(watch);
    expect(job.pausedFor).toMatchObject({
      kind: "cap",
      reason: expect.stringMatching(/^\$0\.\d+ of the cap of \$0\.012 are spent, and the next call can cost \$0\.\d+\./),
    });
    expect(most).toBeGreaterThan(0);
    expect(Math.max(most, job.tally.usd)).toBeLessThanOrEqual(capUsd);
    expect(job.tally.usd).toBeCloseTo(
      rows().reduce((sum, { usd }) => sum + usd, 0),
      9,
    );
    const spent = rows().map(({ inputTokens, outputTokens }) => ((inputTokens ?? 0) + (outputTokens ?? 0)) / 1e5);
    expect(job.tally.usd).toBeCloseTo(
      spent.reduce((sum, usd) => sum + usd, 0),
      9,
    );
    job.resume(null);
    await over();
    expect(store.profiles.get(id)?.state).toBe("done");
    expect(job.ledger.models[0]).toEqual({ planned: 40, done: 40, failed: 0 });
  });

  it("makes no more calls at once than asked, and no more a minute", async () => {
    const { server: heard, over } = await begin((request) => ({ ...(answers(request) as { text: string }), delayMs: 30 }), {
      requestsPerMinute: 1200,
      concurrency: 3,
    });
    const began = performance.now();
    await over();
    expect(heard.mostInFlight()).toBeLessThanOrEqual(6);
    expect(heard.heard).toHaveLength(12);
    expect(performance.now() - began).toBeGreaterThan(11 * 50 - 100);
    // Answers are read while others are still requested.
    expect(heard.heard.slice(0, 8).map(({ request }) => request.model)).toContain("judge");
  });

  it("pauses while its texts are deleted, and drops each answer once it is judged unless it is to be kept", async () => {
    const { id, over, run: job } = await begin(answers, { keepAnswers: false }, prompts(20));
    await until(() => job.tally.model("small").done >= 8);
    store.prompts.deleteTexts("set");
    store.profiles.dropAnswersOf("set");
    await over();
    expect(job.pausedFor).toMatchObject({ kind: "problem", reason: expect.stringMatching(/^Texts that are still needed were deleted/) });
    await job.stop();
    expect(store.profiles.hasAnswers(id)).toBe(false);
    expect(store.profiles.get(id)?.state).toBe("stopped");
  });

  it("gives up a call that hangs, and asks again", async () => {
    let hung = 0;
    const { over, run: job, rows } = await begin((request) => (request.model === "small" && hung++ === 0 ? "silence" : answers(request)));
    await over();
    expect(job.state).toBe("done");
    expect(rows().filter(({ attempts }) => attempts === 2)).toHaveLength(1);
  });

  it("loses no call while its disk is full: none is made twice, and it goes on when it can write again", async () => {
    const full = () => {
      throw Object.assign(new Error(marker), { code: "SQLITE_FULL" });
    };
    const { id, over, server: heard, run: job } = await begin(answers, {}, prompts(30));
    await until(() => job.tally.model("small").done >= 5);
    const { saveCalls, setState } = store.profiles;
    Object.assign(store.profiles, { saveCalls: full, setState: full });
    await over();
    expect(job.pausedFor).toMatchObject({ kind: "problem", reason: expect.stringMatching(/^The studio stopped \(SQLITE_FULL\)/) });
    expect(store.profiles.get(id)?.state).toBe("running");
    // Still full: it pauses again.
    job.resume(null);
    await over();
    expect(job.state).toBe("paused");
    Object.assign(store.profiles, { saveCalls, setState });
    await until(() => store.profiles.get(id)?.state === "paused", 5_000);
    expect(JSON.stringify(store.audit.list(20))).not.toContain(marker);
    job.resume(null);
    await over();
    expect(job.state).toBe("done");
    expect(job.ledger.models).toEqual([{ planned: 30, done: 30, failed: 0 }]);
    expect(job.ledger.measures).toEqual([{ planned: 30, done: 30, failed: 0 }]);
    expect(heard.heard).toHaveLength(60);
    expect(job.tally.lost).toBe(0);
  });

  it("is stopped once its disk can write that, and drops then what is not to be kept", async () => {
    const { id, run: job } = await begin((request) => ({ ...(answers(request) as { text: string }), delayMs: 100 }), {
      keepAnswers: false,
    });
    await until(() => store.profiles.hasAnswers(id));
    const { saveCalls, setState, dropAnswers } = store.profiles;
    const full = () => {
      throw Object.assign(new Error(marker), { code: "SQLITE_FULL" });
    };
    Object.assign(store.profiles, { saveCalls: full, setState: full, dropAnswers: full });
    await job.stop();
    expect([job.state, job.isOver, store.profiles.get(id)?.state]).toEqual(["stopped", false, "running"]);
    Object.assign(store.profiles, { saveCalls, setState, dropAnswers });
    await until(() => job.isOver, 5_000);
    expect([store.profiles.get(id)?.state, store.profiles.hasAnswers(id)]).toEqual(["stopped", false]);
  });

  it("keeps no answer to prompts that were deleted while it was on its way", async () => {
    const { id, over, run: job } = await begin((request) => ({ ...(answers(request) as { text: string }), delayMs: 300 }));
    await until(() => job.inFlight() > 0);
    store.prompts.deleteTexts("set");
    store.profiles.dropAnswersOf("set");
    await over();
    expect(job.pausedFor).toMatchObject({ kind: "problem" });
    expect(job.tally.model("small").done).toBeGreaterThan(0);
    expect(store.profiles.hasAnswers(id)).toBe(false);
  });

  it.each([-1, 0, 1e12, 7.5, "many"])("takes no bound of %s for a prompt's own, and so holds its cap", async (max_tokens) => {
    const say = ({ model, max_tokens: most = 0 }: HeardRequest): Said => ({ text: model === "judge" ? "70" : "x", outputTokens: most });
    const { over, server: heard, run: job } = await begin(say, { usd: 100, capUsd: 0.2, concurrency: 4 }, prompts(20, { max_tokens }));
    await over();
    expect(job.pausedFor?.kind).toBe("cap");
    expect(job.tally.usd).toBeGreaterThan(0.1);
    expect(job.tally.usd).toBeLessThanOrEqual(0.2);
    expect(heard.heard.filter(({ request }) => request.model === "small").map((one) => one.request.max_tokens)).toContain(50);
  });

  it("asks a place that does not stream for whole answers from then on, each within the limit of calls per minute", async () => {
    const say = (request: HeardRequest): Said => (request.stream ? { status: 400, text: "streaming is not supported" } : answers(request));
    const { over, server: heard, run: job } = await begin(say, { requestsPerMinute: 600 }, prompts(8));
    const began = performance.now();
    await over();
    expect(job.state).toBe("done");
    expect(heard.heard.filter(({ request }) => request.stream).length).toBeLessThanOrEqual(2);
    expect(performance.now() - began).toBeGreaterThan((heard.heard.length - 1) * 100 - 100);
  });

  it("takes a refusal that speaks of streams for what it is", async () => {
    const say = (request: HeardRequest): Said =>
      request.model === "judge" ? { text: "70" } : { status: 400, text: "cannot say what is upstream of a stream" };
    const { over, server: heard, run: job } = await begin(say, {}, prompts(4));
    await over();
    expect(heard.heard).toHaveLength(4);
    expect(job.tally.failures(3)).toEqual([{ reason: "small answered 400.", calls: 4 }]);
  });

  it("counts answers that were cut at the most tokens, streamed or whole", async () => {
    const {
      over,
      rows,
      run: job,
    } = await begin((request) => {
      if (request.stream && /question [01]/.test(request.messages[0]?.content ?? ""))
        return { status: 400, text: "'stream' must be false" };
      if (request.model === "judge" || /question 5/.test(request.messages[0]?.content ?? "")) return answers(request);
      return { text: "an answer that", finish: "length" };
    });
    await over();
    expect(job.tally.model("small")).toMatchObject({ done: 6, cut: 5 });
    expect(rows().filter(({ cut }) => cut === 1)).toHaveLength(5);
    expect(store.profiles.groups("job").reduce((sum, { cut }) => sum + cut, 0)).toBe(5);
  });

  it("drops what is not to be kept in the moment in which it is stopped, and what comes after", async () => {
    const { id, run: job } = await begin(
      (request) => ({ ...(answers(request) as { text: string }), delayMs: request.model === "judge" ? 400 : 5 }),
      { keepAnswers: false, concurrency: 4 },
      prompts(20),
    );
    await until(() => store.profiles.hasAnswers(id));
    const stopped = job.stop();
    expect(store.profiles.get(id)?.state).toBe("stopped");
    expect(store.profiles.hasAnswers(id)).toBe(false);
    await stopped;
    expect(store.profiles.hasAnswers(id)).toBe(false);
  });

  it("leaves a line in the audit log where it pauses by itself, and where it ends", async () => {
    const { over, run: job } = await begin(answers, { usd: 10, capUsd: 0.012 }, prompts(12));
    await over();
    job.resume(null);
    await over();
    const lines = store.audit.list(5).map(({ actor, action, subject, detail }) => `${actor}: ${action} ${subject}, ${detail}`);
    expect(lines).toEqual([
      expect.stringMatching(/^studio: end profile a job, 12 prompts, \$0\.\d+ spent$/),
      expect.stringMatching(/^studio: pause profile a job, \$0\.\d+ of the cap of \$0\.012 are spent/),
    ]);
  });
});
