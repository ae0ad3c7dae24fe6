import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { type Answer, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, testConfig } from "../testing/testGateway";

const json = { "content-type": "application/json" };
const eventStream = { "content-type": "text/event-stream" };
const refuse = (status: number) => (_: unknown, response: ServerResponse) => response.writeHead(status, json).end(`{"status":${status}}`);
const errorOf = async (answer: Response) => ((await answer.json()) as { error: { message: string; code: string } }).error;

/** A gateway before one engine for each of the answers. */
async function before(answers: readonly Answer[], limits: Parameters<typeof startTestGateway>[0] = {}) {
  const engines = await Promise.all(answers.map((answer) => startTestEngine(answer)));
  const gateway = await startTestGateway(limits);
  await gateway.put(oneModel(engines.map(({ url }) => url)));
  return { ...gateway, engines };
}

describe("an engine that answers with an error", () => {
  it("to one client's requests takes others' again at once, however many those were", async () => {
    const { chat } = await before(
      [({ body }, response) => (body.user === "poison" ? response.writeHead(500).end() : sayCompletion(response, "sound"))],
      { attemptsPerStage: 1 },
    );
    for (let request = 0; request < 6; request += 1) expect((await chat({ user: "poison" })).status).toBe(502);
    expect((await chat({})).status).toBe(200);
  });

  it("because it is full makes the request one to send again later, which only its client does where there is no other engine", async () => {
    const { chat, engines, decisions } = await before([refuse(429)]);
    const answer = await chat({});
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.headers.get("x-weir-decision-id")).not.toBeNull();
    expect(answer.headers.get("x-should-retry")).toBeNull();
    expect(await errorOf(answer)).toMatchObject({ type: "rate_limit_error", message: '{"status":429}' });
    expect(engines[0]?.asked).toHaveLength(1);
    expect((await decisions())[0]).toMatchObject({
      status: 429,
      stages: [{ verdict: "failed" }],
      reason: "large failed 1 time, last on large-0: the engine answered 429.",
    });
  });

  it.each([302, 401, 403, 404])("of its own set-up, as %i, is passed over for another engine", async (status) => {
    const { chat, engines } = await before([refuse(status), (_, response) => sayCompletion(response, "sound")]);
    for (let request = 0; request < 3; request += 1) expect((await chat({})).status).toBe(200);
    expect(engines[0]?.asked.length).toBeGreaterThan(0);
  });

  it("that every engine gives is passed on when all were asked", async () => {
    const { chat, engines, decisions } = await before([refuse(404), refuse(404)]);
    const answer = await chat({});
    expect([answer.status, (await errorOf(answer)).message]).toEqual([404, '{"status":404}']);
    expect(engines.map(({ asked }) => asked.length)).toEqual([1, 1]);
    expect((await decisions())[0]?.stages.map(({ reason }) => reason)).toEqual(Array(2).fill("the engine answered 404"));
  });

  it("is passed on at once where there is no other engine", async () => {
    const { chat, engines } = await before([refuse(401)]);
    expect((await chat({})).status).toBe(401);
    expect(engines[0]?.asked).toHaveLength(1);
  });
});

describe("a stage of a cascade whose only engine refuses for its own set-up", () => {
  async function cascade(small: Answer, large: Answer) {
    const engines = await Promise.all([small, large].map((answer) => startTestEngine(answer)));
    const judge = await startTestEngine((_, response) => sayCompletion(response, "20", "weir-judge"));
    const gateway = await startTestGateway();
    const stages = ["small", "large"].map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
    await gateway.put(testConfig({ stages, thresholds: [50], judgeUrl: judge.url }));
    return { ...gateway, engines };
  }
  const says =
    (text: string): Answer =>
    (_, response) =>
      sayCompletion(response, text);

  it.each([302, 401, 403, 404])("as %i, is passed over for the next stage, and asked once", async (status) => {
    const { chat, engines, decisions } = await cascade(refuse(status), says("large says"));
    const answer = await chat({});
    expect([answer.status, answer.headers.get("x-weir-skipped"), answer.headers.get("x-weir-degraded")]).toEqual([200, "small", "stage"]);
    expect(await answer.text()).toContain("large says");
    expect(engines.map(({ asked }) => asked.length)).toEqual([1, 1]);
    expect((await decisions())[0]).toMatchObject({ skipped: [{ model: "small", cause: "failed" }], status: 200 });
  });

  it("leaves its client the smaller stage's answer", async () => {
    const { chat } = await cascade(says("small says"), refuse(404));
    const answer = await chat({});
    expect([answer.status, answer.headers.get("x-weir-degraded")]).toEqual([200, "lower-stage"]);
    expect(await answer.text()).toContain("small says");
  });

  it("has its refusal passed on where no stage is left", async () => {
    const { chat, engines } = await cascade(refuse(403), refuse(404));
    const answer = await chat({});
    expect([answer.status, (await errorOf(answer)).message]).toEqual([404, '{"status":404}']);
    expect(engines.map(({ asked }) => asked.length)).toEqual([1, 1]);
  });
});

describe("an answer that is none", () => {
  it.each([
    ["chat/completions", '{"foo":1}', { messages: [{ role: "user", content: "2 + 2" }] }],
    ["chat/completions", '{"error":{"message":"out of memory"}}', { messages: [{ role: "user", content: "2 + 2" }] }],
    ["completions", '{"data":[]}', { prompt: "2 + 2" }],
    ["embeddings", '{"choices":[]}', { input: "2 + 2" }],
  ])("to /v1/%s, as %s, is not passed on as one", async (path, nonsense, body) => {
    const { post } = await before([(_, response) => response.writeHead(200, json).end(nonsense)]);
    const answer = await post(`/v1/${path}`, { model: "large", ...body });
    expect([answer.status, (await errorOf(answer)).message]).toEqual([
      502,
      "large failed 3 times, last on large-0: the engine's answer is not a completion.",
    ]);
  });
});

describe("an answer without end", () => {
  const writeForEver = (response: ServerResponse, chunk: string): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once("drain", () => writeForEver(response, chunk));
  };
  const endless =
    (headers: Record<string, string>, chunk: string): Answer =>
    (_, response) =>
      writeForEver(response.writeHead(200, headers), chunk);
  const limits = { answerBytes: 1_000_000, attemptsPerStage: 1 };
  const tooLong = "large failed 1 time, last on large-0: its answer is longer than 1000000 bytes, this gateway's limit.";

  it.each([
    ["whole", false, endless(json, " ".repeat(10_000))],
    ["a stream without a token", true, endless(eventStream, streamEvent({ role: "assistant", content: "" }))],
  ])("has failed when it is longer than the gateway takes: %s", async (_, stream, answer) => {
    const { chat, engines } = await before([answer], limits);
    const failed = await chat({ stream });
    expect([failed.status, (await errorOf(failed)).message]).toEqual([502, tooLong]);
    await engines[0]?.asked[0]?.cutOff;
  });

  it("as a single event ends a stream that has begun with an error event", async () => {
    const { chat, engines } = await before([
      (_, response) => {
        response.writeHead(200, eventStream).write(streamEvent({ content: "first" }));
        writeForEver(response, "x".repeat(100_000));
      },
    ]);
    const text = await (await chat({ stream: true })).text();
    expect(text).toMatch(/first[\s\S]*one event of its stream is longer than 8388608 characters\."[\s\S]*"code":"engine_failed"/);
    await engines[0]?.asked[0]?.cutOff;
  });
});
