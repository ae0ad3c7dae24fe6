import type { ServerResponse } from "node:http";
import { APIError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from "openai";
import { describe, expect, it } from "vitest";
import { type TestClient, testClient } from "../testing/testClient";
import { type Answer, heldEngine, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { ensembleOf } from "../testing/testEnsembles";
import { oneModel, startTestGateway, testConfig, until } from "../testing/testGateway";

const json = { "content-type": "application/json" };
const answers =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { ...json, ...headers }).end(typeof body === "string" ? body : JSON.stringify(body));
const nested = { error: { message: "Come back later.", type: "overloaded", param: null, code: "busy" } };
const flat = { object: "error", message: "The context has 2048 tokens.", type: "BadRequestError", param: "messages", code: 400 };

/** A gateway in front of one engine for each answer, and the official client in front of it. */
async function before(given: readonly Answer[], onSleep?: () => unknown) {
  const engines = await Promise.all(given.map((answer) => startTestEngine(answer)));
  const gateway = await startTestGateway();
  await gateway.put(oneModel(engines.map(({ url }) => url)));
  const upstream = (): number => engines.reduce((calls, { asked }) => calls + asked.length, 0);
  return { gateway, engines, upstream, ...testClient(gateway.dataUrl, onSleep) };
}

/** Asks for an answer; the text that came, and the error by which it ended. */
async function asked({ client }: TestClient, stream: boolean): Promise<{ readonly text: string; readonly error: unknown }> {
  const body = { model: "large", messages: [{ role: "user" as const, content: "2 + 2" }] };
  let text = "";
  try {
    if (!stream) text = (await client.chat.completions.create(body)).choices[0]?.message.content ?? "";
    else for await (const { choices } of await client.chat.completions.create({ ...body, stream })) text += choices[0]?.delta.content ?? "";
    return { text, error: null };
  } catch (error) {
    return { text, error };
  }
}

const both = describe.each([
  ["plain", false],
  ["streamed", true],
] as const);

both("the official client, %s", (_, stream) => {
  it.each([
    [429, RateLimitError],
    [503, InternalServerError],
  ])("sleeps as long as an engine's %i says, and calls the engine once for each of its own three attempts", async (status, kind) => {
    const tested = await before([answers(status, nested, { "retry-after": "7" })]);
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ status, code: "busy", type: "overloaded", message: `${status} Come back later.` });
    expect([tested.upstream(), tested.statuses, tested.slept]).toEqual([3, Array(3).fill(status), [7000, 7000]]);
  });

  it("sleeps as long as an engine says in milliseconds", async () => {
    const tested = await before([answers(429, nested, { "retry-after-ms": "300" })]);
    expect((await asked(tested, stream)).error).toBeInstanceOf(RateLimitError);
    expect([tested.upstream(), tested.slept]).toEqual([3, [300, 300]]);
  });

  it("sleeps for two seconds where a full engine says nothing", async () => {
    const tested = await before([answers(429, "")]);
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ code: "engine_full" });
    expect([tested.upstream(), tested.slept]).toEqual([3, [2000, 2000]]);
  });

  it("gets another engine's answer at its first attempt where one is full", async () => {
    const says: Answer = ({ body }, response) => {
      if (body.stream !== true) return sayCompletion(response, "four");
      return response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(`${streamEvent({ content: "four" }, "stop")}data: [DONE]\n\n`);
    };
    const tested = await before([answers(429, nested, { "retry-after": "7" }), says]);
    expect(await asked(tested, stream)).toEqual({ text: "four", error: null });
    expect([tested.statuses, tested.slept]).toEqual([[200], []]);
  });

  it.each([
    [503, "", 503, "engine_unavailable"],
    [503, nested, 503, "busy"],
    [502, nested, 502, "engine_failed"],
    [500, "Traceback", 502, "engine_failed"],
  ])("does not repeat the gateway's three attempts after an engine's %i with %o", async (status, body, told, code) => {
    const tested = await before([answers(status, body)]);
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: told, code });
    expect([tested.upstream(), tested.statuses, tested.slept]).toEqual([3, [told], []]);
  });

  it("does not repeat the attempts at a connection that breaks", async () => {
    const tested = await before([(_asked, response) => response.destroy()]);
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 502, code: "engine_failed" });
    expect([tested.upstream(), tested.slept]).toEqual([3, []]);
  });

  it("does not repeat the attempts at both stages of a cascade", async () => {
    const engines = await Promise.all([answers(500, ""), answers(500, "")].map((answer) => startTestEngine(answer)));
    const gateway = await startTestGateway();
    const stages = ["small", "large"].map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
    await gateway.put(testConfig({ stages, thresholds: [50], judgeUrl: engines[0]?.url ?? "" }));
    const { client, slept } = testClient(gateway.dataUrl);
    const asking = client.chat.completions.create({ model: "cascade/test", stream, messages: [{ role: "user", content: "2 + 2" }] });
    await expect(asking).rejects.toMatchObject({ status: 503, code: "no_endpoint" });
    expect([engines.map(({ asked: calls }) => calls.length), slept]).toEqual([[3, 3], []]);
  });

  it("is told at its first attempt where an ensemble's models are full after the gateway's attempts, which nobody else makes", async () => {
    const engine = await startTestEngine(answers(429, nested, { "retry-after": "7" }));
    const gateway = await startTestGateway();
    const ensembles = [ensembleOf({ experts: ["small", "large"], expertsPerQuestion: 2, aggregator: { model: "large" } })];
    const { replicas } = testConfig({ stages: ["small", "large"].map((model) => ({ model, urls: [engine.url] })) });
    await gateway.put({ ...oneModel([engine.url]), replicas, settings: { ensembles } });
    const { client, slept } = testClient(gateway.dataUrl);
    const asking = client.chat.completions.create({ model: "ensemble/trio", stream, messages: [{ role: "user", content: "2 + 2" }] });
    await expect(asking).rejects.toMatchObject({ status: 429 });
    expect([engine.asked.length, slept]).toEqual([9, []]);
  });

  it("reads the fields of an older engine's flat error", async () => {
    const tested = await before([answers(400, flat)]);
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(BadRequestError);
    const { object: _object, message, ...fields } = flat;
    expect(error).toMatchObject({ ...fields, message: `400 ${message}`, error: flat });
    expect([tested.upstream(), tested.slept]).toEqual([1, []]);
  });

  it.each([
    [{ detail: "Not Found" }, "404 Not Found"],
    [{ error: "model 'large' not found" }, "404 model 'large' not found"],
    [{ status: 404 }, '404 {"status":404}'],
    ["no such page", "404 no such page"],
    ["", "404 There is no answer: the engine answered 404 without a body."],
  ])("reads an engine's error %o as a message", async (body, message) => {
    const tested = await before([answers(404, body)]);
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(NotFoundError);
    expect((error as Error).message).toBe(message);
  });

  it("gets its answer at the second attempt where the gateway has its first configuration by then", async () => {
    const engine = await heldEngine();
    engine.open();
    const gateway = await startTestGateway();
    const tested = testClient(gateway.dataUrl, () => gateway.put(oneModel([engine.url])));
    const { error } = await asked(tested, false);
    expect(error).toBeNull();
    expect([tested.statuses, tested.slept]).toEqual([[503, 200], [2000]]);
  });

  it("is told that there is no configuration after two sleeps of two seconds", async () => {
    const tested = testClient((await startTestGateway()).dataUrl);
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 503, code: "no_config" });
    expect(tested.slept).toEqual([2000, 2000]);
  });

  it("is told that no engine takes work after two sleeps of two seconds", async () => {
    const gateway = await startTestGateway();
    const config = oneModel(["http://127.0.0.1:9"]);
    await gateway.put({ ...config, replicas: config.replicas.map((replica) => ({ ...replica, state: "cordoned" as const })) });
    const tested = testClient(gateway.dataUrl);
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 503, code: "no_endpoint" });
    expect(tested.slept).toEqual([2000, 2000]);
  });

  it("is told that a queue is full after two sleeps, and gets its answer where the queue has room by then", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway({ queuedPerModel: 1 });
    await gateway.put(oneModel([engine.url], 1));
    const before = [gateway.chat({ model: "large" })];
    await until(() => engine.asked.length === 1);
    before.push(gateway.chat({ model: "large" }));
    const queued = async (): Promise<unknown> => ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as Queued).queued.large;
    await until(async () => (await queued()) === 1);
    let makeRoom: () => unknown = () => undefined;
    const tested = testClient(gateway.dataUrl, () => makeRoom());
    const { error } = await asked(tested, stream);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, code: "queue_full" });
    expect(tested.slept).toEqual([2000, 2000]);
    makeRoom = () => {
      engine.open();
      return Promise.all(before);
    };
    expect((await asked(tested, false)).text).toBe("late");
    expect([tested.statuses, tested.slept]).toEqual([
      [429, 429, 429, 429, 200],
      [2000, 2000, 2000],
    ]);
  });
});

interface Queued {
  readonly queued: Readonly<Record<string, number>>;
}

describe("the official client, in the middle of a stream", () => {
  const begins = (response: ServerResponse): unknown =>
    response.writeHead(200, { "content-type": "text/event-stream" }).write(streamEvent({ role: "assistant", content: "half" }));
  const later = (act: () => unknown): unknown => setTimeout(act, 20);

  it.each([
    ["whose engine goes", (response: ServerResponse) => response.destroy(), "engine_failed", /^The engine failed while it was answering: /],
    ["that ends without [DONE]", (response: ServerResponse) => response.end(), "engine_failed", /without \[DONE\]/],
    [
      "with an engine's error event and a [DONE]",
      (response: ServerResponse) => response.end(`data: ${JSON.stringify(nested)}\n\ndata: [DONE]\n\n`),
      "busy",
      /^Come back later\.$/,
    ],
    [
      "with an engine's flat error event",
      (response: ServerResponse) => response.end(`data: ${JSON.stringify({ ...flat, code: "dead" })}\n\ndata: [DONE]\n\n`),
      "dead",
      /^The context has 2048 tokens\.$/,
    ],
    [
      "with an engine's error event that has a name, in pieces",
      (response: ServerResponse) => {
        response.write("event: error\n");
        later(() => response.end(`data: ${JSON.stringify(nested)}\n\ndata: [DONE]\n\n`));
      },
      "busy",
      /^Come back later\.$/,
    ],
    [
      "with a text and an engine's named error event at once",
      (response: ServerResponse) => response.end(`${streamEvent({ content: "" })}event: error\ndata: ${JSON.stringify(nested)}\n\n`),
      "busy",
      /^Come back later\.$/,
    ],
  ])("%s, raises an APIError with what came before, and does not try again", async (_, breaks, code, message) => {
    const tested = await before([
      (_asked, response) => {
        begins(response);
        later(() => breaks(response));
      },
    ]);
    const { text, error } = await asked(tested, true);
    expect(text).toBe("half");
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: undefined, code, message: expect.stringMatching(message) });
    expect([tested.upstream(), tested.slept]).toEqual([1, []]);
    const raw = await (await tested.gateway.chat({ model: "large", stream: true })).text();
    expect(raw).not.toContain("data: [DONE]");
    expect(raw.match(/"error":/g)).toHaveLength(1);
  });
});
