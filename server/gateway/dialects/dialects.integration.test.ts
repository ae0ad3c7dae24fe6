import { createHash } from "node:crypto";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { emulatedStages } from "../testing/testEmulatedStages";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { says, serving } from "../testing/testEnsembles";
import { oneModel, startTestGateway } from "../testing/testGateway";

const sha256 = (key: string): string => createHash("sha256").update(key).digest("hex");
const question = { model: "large", max_tokens: 50, messages: [{ role: "user" as const, content: "q" }] };
const engineSays = (text: string) => startTestEngine((_, response) => sayCompletion(response, text));

/** Two API keys, and a gateway that wants one. */
async function keyedGateway(limits = {}) {
  const engine = await engineSays("hello");
  const gateway = await startTestGateway(limits);
  const keys = ["one", "two"].map((name) => ({ name, sha256: sha256(`key-${name}`) }));
  await gateway.put({ ...oneModel([engine.url]), settings: { keys } });
  const openAi = (name: string) => new OpenAI({ baseURL: `${gateway.dataUrl}/v1`, apiKey: `key-${name}`, maxRetries: 0 });
  return { ...gateway, engine, openAi };
}

describe("/v1/messages", () => {
  it("takes the API key of Anthropic's clients, and refuses a wrong one in their form", async () => {
    const { dataUrl, decisions } = await keyedGateway();
    const client = (apiKey: string) => new Anthropic({ baseURL: dataUrl, apiKey, maxRetries: 0 });
    const message = await client("key-one").messages.create(question);
    expect(message.content).toMatchObject([{ type: "text", text: "hello" }]);
    expect((await decisions())[0]).toMatchObject({ key: "one", endpoint: "/v1/messages" });
    const refused = client("wrong").messages.create(question);
    await expect(refused).rejects.toMatchObject({ status: 401, type: "authentication_error", errorCode: "invalid_api_key" });
  });

  it("has the id of the decision in its message, and of the request in its error", async () => {
    const { post, put } = await startTestGateway();
    await put(oneModel([(await engineSays("hello")).url]));
    const headers = { "x-request-id": "mine", "anthropic-version": "2023-06-01" };
    const answer = await post("/v1/messages", { ...question, cache_control: { type: "ephemeral" } }, headers);
    const decision = answer.headers.get("x-weir-decision-id") ?? "";
    expect(await answer.json()).toMatchObject({ id: `msg_${decision.replaceAll("-", "")}` });
    expect([answer.headers.get("request-id"), answer.headers.get("x-weir-ignored")]).toEqual(["mine", "cache_control"]);
    const refused = await post("/v1/messages", { ...question, max_tokens: undefined }, headers);
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "`max_tokens` must be the most tokens that the answer may have.",
          details: { error_code: "unsupported_value", param: "max_tokens" },
        },
        request_id: "mine",
      },
    ]);
    const unknown = await post("/v1/messages/batches", {});
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { type: "error", error: { type: "not_found_error" } }]);
  });

  it.each([
    [429, "rate_limit_error"],
    [503, "overloaded_error"],
    [400, "invalid_request_error"],
  ])("passes an engine's %i on as %s, with what it says of retries", async (status, type) => {
    const engine = await startTestEngine((_, response) =>
      response
        .writeHead(status, { "content-type": "application/json", "retry-after": "7" })
        .end('{"object":"error","message":"No room.","code":1}'),
    );
    const { post, put } = await startTestGateway();
    await put(oneModel([engine.url]));
    const answer = await post("/v1/messages", question);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(await answer.json()).toMatchObject({ type: "error", error: { type, message: "No room.", details: { error_code: "1" } } });
  });

  it("sends each piece of a stream when it comes, and an engine's failure after it as an error", async () => {
    let finish = (): void => undefined;
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamEvent({ role: "assistant", content: "Hel" }));
      finish = () => response.end(`data: ${JSON.stringify({ error: { message: "Out of memory.", type: "server_error", code: 500 } })}\n\n`);
    });
    const { dataUrl, put } = await startTestGateway();
    await put(oneModel([engine.url]));
    const client = new Anthropic({ baseURL: dataUrl, apiKey: "none", maxRetries: 0 });
    const pieces: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of await client.messages.create({ ...question, stream: true }))
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") {
          pieces.push(event.delta.text);
          finish();
        }
    };
    await expect(read()).rejects.toMatchObject({ type: "api_error", message: expect.stringContaining("Out of memory.") });
    expect(pieces).toEqual(["Hel"]);
  });

  it("asks engines for chat completions, and says which stop sequence was met", async () => {
    const engine = await startTestEngine((_, response) => {
      const choices = [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop", stop_reason: "END" }];
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "c", model: "m", choices }));
    });
    const { dataUrl, put } = await startTestGateway();
    await put(oneModel([engine.url]));
    const client = new Anthropic({ baseURL: dataUrl, apiKey: "none" });
    const message = await client.messages.create({ ...question, stop_sequences: ["END"] });
    expect([message.stop_reason, message.stop_sequence]).toEqual(["stop_sequence", "END"]);
    expect(engine.asked[0]).toMatchObject({ path: "/v1/chat/completions", body: { stop: ["END"], max_tokens: 50, model: "large" } });
  });
});

describe("a message whose tool's arguments are broken", () => {
  const engineCalls = (text: string, finish_reason: string) =>
    startTestEngine((_, response) => {
      const tool_calls = [{ id: "a", type: "function", function: { name: "f", arguments: text } }];
      const choices = [{ index: 0, message: { role: "assistant", content: null, tool_calls }, finish_reason }];
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "c", model: "m", choices }));
    });

  it.each([
    ["length", 200, null, { stop_reason: "max_tokens", content: [] }],
    ["tool_calls", 502, "false", { type: "error", error: { message: expect.stringContaining("are not a JSON object") } }],
  ])("that the engine ended with %s is answered %i, and not sent again", async (finish, status, retry, body) => {
    const { post, put } = await startTestGateway();
    await put(oneModel([(await engineCalls('{"a": ', finish)).url]));
    const answer = await post("/v1/messages", question);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([status, retry]);
    expect(await answer.json()).toMatchObject(body);
  });
});

describe("/v1/messages/count_tokens", () => {
  let emulators: TestEmulators;
  beforeEach(async () => {
    emulators = new TestEmulators(await freePort());
  });
  afterEach(() => emulators.end());

  it.each([MODEL, "cascade/test"])("counts the tokens of a prompt for %s as its engines do", async (model) => {
    const { dataUrl } = await emulatedStages(emulators);
    const client = new Anthropic({ baseURL: dataUrl, apiKey: "none", maxRetries: 0 });
    const asked = { model, messages: question.messages };
    const { usage } = await client.messages.create({ ...question, model });
    expect(await client.messages.countTokens(asked)).toEqual({ input_tokens: usage.input_tokens });
  });

  it("is refused in a sentence where an engine does not count", async () => {
    const { post, put } = await startTestGateway();
    await put(oneModel([(await engineSays("hello")).url]));
    const answer = await post("/v1/messages/count_tokens", question);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([501, "false"]);
    expect(await answer.json()).toMatchObject({ type: "error", error: { message: expect.stringContaining("does not count tokens") } });
  });
});

describe("/v1/responses", () => {
  it("continues, gives and deletes a stored response for the API key that made it alone", async () => {
    const { openAi, engine } = await keyedGateway({ storedResponseBytes: 100_000 });
    const [one, two] = [openAi("one"), openAi("two")];
    const first = await one.responses.create({ model: "large", input: "first", instructions: "Be brief." });
    const streamed = await one.responses.stream({ model: "large", input: "second", previous_response_id: first.id }).finalResponse();
    expect(streamed.previous_response_id).toBe(first.id);
    await one.responses.create({ model: "large", input: "third", previous_response_id: streamed.id, store: false });
    const said = { role: "assistant", content: "hello" };
    const user = (content: string) => ({ role: "user", content });
    expect(engine.asked.map(({ body }) => body.messages)).toEqual([
      [{ role: "system", content: "Be brief." }, user("first")],
      [user("first"), said, user("second")],
      [user("first"), said, user("second"), said, user("third")],
    ]);
    expect((await one.responses.retrieve(first.id)).output).toEqual(first.output);
    await expect(two.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404, code: "response_not_found" });
    await expect(two.responses.create({ model: "large", input: "x", previous_response_id: first.id })).rejects.toMatchObject({
      status: 400,
      param: "previous_response_id",
      message: expect.stringContaining("names no response that is kept"),
    });
    await expect(two.responses.delete(first.id)).rejects.toMatchObject({ status: 404 });
    await one.responses.delete(first.id);
    await expect(one.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
  });

  it("puts the items of stored responses where an input refers to them, for the API key that made them alone", async () => {
    const { openAi, engine } = await keyedGateway({ storedResponseBytes: 100_000 });
    const [one, two] = [openAi("one"), openAi("two")];
    const first = await one.responses.create({ model: "large", input: "first" });
    const user = (content: string) => ({ role: "user" as const, content });
    const reference = { type: "item_reference" as const, id: first.output[0]?.id ?? "" };
    const input = [user("first"), reference, user("second")];
    await one.responses.create({ model: "large", input });
    expect(engine.asked.at(-1)?.body.messages).toEqual([user("first"), { role: "assistant", content: "hello" }, user("second")]);
    const refusal = (param: string, message: string) => ({ status: 400, param, message: expect.stringContaining(message) });
    await expect(two.responses.create({ model: "large", input })).rejects.toMatchObject(
      refusal("input.1", "refers to no item that is kept"),
    );
    const unknown = [user("a"), { ...reference, id: "msg_x_0" }];
    await expect(one.responses.create({ model: "large", input: unknown })).rejects.toMatchObject(
      refusal("input.1", "no item that is kept"),
    );
    const many = Array.from({ length: 5_000 }, () => reference);
    await expect(one.responses.create({ model: "large", input: many })).rejects.toMatchObject(
      refusal("input.0", "more than one body may be"),
    );
    expect(engine.asked).toHaveLength(2);
  });

  it("gives no stored response to another API key of the same name", async () => {
    const { openAi, put, engine } = await keyedGateway({ storedResponseBytes: 100_000 });
    const first = await openAi("one").responses.create({ model: "large", input: "first" });
    await put({ ...oneModel([engine.url]), settings: { keys: [{ name: "one", sha256: sha256("key-new") }] } });
    await expect(openAi("new").responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    const continued = openAi("new").responses.create({ model: "large", input: "x", previous_response_id: first.id });
    await expect(continued).rejects.toMatchObject({ status: 400, param: "previous_response_id" });
  });

  it("continues no conversation that is larger than a body may be, or than the memory that is left", async () => {
    const limits = { storedResponseBytes: 1_000_000, bodyBytes: 60_000, bodyBytesInAll: 38_000 };
    const { openAi, engine } = await keyedGateway(limits);
    const { responses } = openAi("one");
    const said = (characters: number, previous_response_id?: string) =>
      responses.create({ model: "large", input: "x".repeat(characters), ...(previous_response_id && { previous_response_id }) });
    const first = await said(18_000);
    const second = await said(15_000, first.id);
    await expect(said(5_000, second.id)).rejects.toMatchObject({ status: 503, code: "no_room" });
    await expect(said(30_000, second.id)).rejects.toMatchObject({
      status: 400,
      param: "previous_response_id",
      message: expect.stringContaining("with this body, more than one body may be"),
    });
    expect(engine.asked).toHaveLength(2);
  });

  it("keeps nothing unless the operator wants it", async () => {
    const { openAi } = await keyedGateway();
    const client = openAi("one");
    const response = await client.responses.create({ model: "large", input: "q", store: true });
    expect(response).toMatchObject({ store: false });
    await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("This gateway keeps no responses."),
    });
    const reference = { type: "item_reference" as const, id: response.output[0]?.id ?? "" };
    await expect(client.responses.create({ model: "large", input: [reference] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("`input.0` refers to an item, but this gateway keeps no responses: give the item itself"),
    });
    await expect(client.responses.create({ model: "large", input: "q", previous_response_id: response.id })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("`previous_response_id` is not supported: this gateway keeps no responses"),
    });
  });

  it("ends a stream whose engine fails with the events of a failed response", async () => {
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamEvent({ role: "assistant", content: "Hel" }));
      setTimeout(() => response.destroy(), 50);
    });
    const { dataUrl, put } = await startTestGateway();
    await put(oneModel([engine.url]));
    const client = new OpenAI({ baseURL: `${dataUrl}/v1`, apiKey: "none", maxRetries: 0 });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client.responses.create({ model: "large", input: "q", stream: true })) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      ...["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"],
      ...["response.output_text.delta", "error", "response.failed"],
    ]);
    expect(events.at(-1)).toMatchObject({ response: { status: "failed", error: { code: "engine_failed" } } });
  });

  it.each([false, true])("answers a body whose ignored fields have names that no header takes (streamed: %s)", async (stream) => {
    const { post, put, dataUrl } = await startTestGateway();
    await put(oneModel([(await engineSays("hello")).url]));
    const reasoning = { "☃": "auto", "a\r\nx-injected: 1": "auto", summary: "auto" };
    const answer = await post("/v1/responses", { model: "large", input: "q", stream, reasoning });
    expect([answer.status, answer.headers.get("x-weir-ignored"), answer.headers.get("x-injected")]).toEqual([
      ...[200, "reasoning, reasoning.summary", null],
    ]);
    expect(await answer.text()).toContain("hello");
    expect((await fetch(`${dataUrl}/health/ready`)).status).toBe(200);
  });

  it("is served by an ensemble as chat completions are, whole and streamed", async () => {
    const { gateway } = await serving({ sum: says("B") });
    const client = new OpenAI({ baseURL: `${gateway.dataUrl}/v1`, apiKey: "none", maxRetries: 0 });
    const asked = { model: "ensemble/trio", input: "A or B?" };
    const whole = await client.responses.create(asked);
    const streamed = await client.responses.stream(asked).finalResponse();
    for (const { status, output_text } of [whole, streamed]) expect([status, output_text]).toEqual(["completed", "I am sure.\nAnswer: A"]);
  });
});
