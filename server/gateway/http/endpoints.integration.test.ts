import { execFile } from "node:child_process";
import { promisify } from "node:util";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { emulatedStages } from "../testing/testEmulatedStages";
import { type Asked, sayCompletion, sayText, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, testConfig } from "../testing/testGateway";

const run = promisify(execFile);

const clientOf = (dataUrl: string) => new OpenAI({ baseURL: `${dataUrl}/v1`, apiKey: "unused", maxRetries: 0 });

const errorOf = async (answer: Response) => ((await answer.json()) as { error: Record<string, unknown> }).error;

/** Answers completions, whole and streamed, and embeddings in an engine's form. */
function engineSays(text: string) {
  return startTestEngine(({ path, body }, response) => {
    if (path === "/v1/embeddings") {
      const data = [{ object: "embedding", index: 0, embedding: [0.5, -0.5] }];
      const usage = { prompt_tokens: 2, total_tokens: 2 };
      return response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ object: "list", data, model: "m", usage }));
    }
    if (body.stream !== true) return sayText(response, text, String(body.model));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of text) response.write(textEvent(piece));
    response.end(`${textEvent("", "length")}data: [DONE]\n\n`);
  });
}

function textEvent(text: string, finishReason: string | null = null): string {
  const choices = [{ index: 0, text, finish_reason: finishReason, logprobs: null }];
  return `data: ${JSON.stringify({ id: "cmpl-1", object: "text_completion", created: 1, model: "m", choices })}\n\n`;
}

/** A cascade of two stages whose judge gives `score`, over engines of the older endpoint. */
async function textCascade(score: string) {
  const [small, large] = [await engineSays("small says"), await engineSays("large says")];
  const judge = await startTestEngine((_, response) => sayCompletion(response, score));
  const gateway = await startTestGateway();
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
  ];
  await gateway.put(testConfig({ stages, thresholds: [70], judgeUrl: judge.url }));
  return { ...gateway, client: clientOf(gateway.dataUrl), small, large, judge };
}

describe("/v1/completions", () => {
  it("goes through the cascade, judged by prompt and text", async () => {
    const { client, judge, small, decisions } = await textCascade("80");
    const completion = await client.completions.create({ model: "cascade/test", prompt: "Once upon", logit_bias: { "5": 1 } });
    expect([completion.object, completion.choices[0]?.text, completion.usage?.total_tokens]).toEqual(["text_completion", "small says", 10]);
    expect(small.asked[0]).toMatchObject({
      path: "/v1/completions",
      body: { model: "small", prompt: "Once upon", logit_bias: { "5": 1 } },
    });
    const prompt = JSON.stringify(judge.asked[0]?.body);
    expect(prompt).toContain("[question]\\nOnce upon\\n\\n[answer]\\nsmall says");
    expect((await decisions())[0]?.stages).toMatchObject([{ model: "small", judgedScore: 80, outputTokens: 3 }]);
  });

  it("is escalated below the threshold", async () => {
    const { client, large } = await textCascade("5");
    const completion = await client.completions.create({ model: "cascade/default", prompt: ["Once upon"] });
    expect([completion.choices[0]?.text, large.asked.length]).toEqual(["large says", 1]);
  });

  it("streams an accepted answer of a judged stage as events of its own kind, with usage when asked", async () => {
    const { client } = await textCascade("80");
    const options = { include_usage: true };
    const stream = await client.completions.create({ model: "cascade/test", prompt: "Once", stream: true, stream_options: options });
    const events: OpenAI.Completion[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ object }) => object)).toEqual(["text_completion", "text_completion"]);
    expect(events[0]?.choices[0]).toMatchObject({ text: "small says", finish_reason: "length" });
    expect([events[0]?.usage, events[1]?.choices, events[1]?.usage?.total_tokens]).toEqual([undefined, [], 10]);
  });

  it("of an engine's model streams through piece by piece, whatever the prompt is made of", async () => {
    const { client, small } = await textCascade("80");
    const prompt = [
      [1, 2],
      [3, 4],
    ];
    const stream = await client.completions.create({ model: "small", prompt, n: 2, stream: true });
    const texts: (string | undefined)[] = [];
    for await (const event of stream) texts.push(event.choices[0]?.text);
    expect(texts).toEqual([..."small says", ""]);
    expect(small.asked[0]?.body).toMatchObject({ prompt, n: 2, stream: true });
  });

  it.each([
    ["without a prompt", {}, "`prompt` must be a text, or a list of texts or tokens.", "prompt"],
    ["to a cascade with two texts", { prompt: ["a", "b"] }, "`prompt` is a list of 2 texts, but a cascade", "prompt"],
    ["to a cascade with tokens", { prompt: [1, 2] }, "`prompt` is a list of tokens, but a cascade", "prompt"],
    ["to a cascade for two answers", { prompt: "a", n: 2 }, "`n` is 2, but a cascade judges one answer", "n"],
  ])("refuses a request %s in one sentence", async (_, body, message, param) => {
    const { post, small } = await textCascade("80");
    const answer = await post("/v1/completions", { model: "cascade/test", ...body });
    const error = await errorOf(answer);
    expect([answer.status, error.param]).toEqual([400, param]);
    expect(error.message).toContain(message);
    expect(small.asked).toHaveLength(0);
  });
});

describe("/v1/embeddings", () => {
  it("are an engine's own, passed through", async () => {
    const { client, small, decisions } = await textCascade("80");
    const { data, usage } = await client.embeddings.create({ model: "small", input: ["weir"], encoding_format: "float", dimensions: 2 });
    expect([data[0]?.embedding, usage.total_tokens]).toEqual([[0.5, -0.5], 2]);
    expect(small.asked[0]).toMatchObject({ path: "/v1/embeddings", body: { model: "small", input: ["weir"], dimensions: 2 } });
    expect((await decisions())[0]?.stages).toMatchObject([{ model: "small", inputTokens: 2, outputTokens: null, verdict: "accepted" }]);
  });

  it("are not made by a cascade, which is said in a sentence", async () => {
    const { post } = await textCascade("80");
    const answer = await post("/v1/embeddings", { model: "cascade/test", input: "weir" });
    const message = "cascade/test is a cascade, which /v1/embeddings does not serve: name a model instead.";
    expect([answer.status, await errorOf(answer)]).toEqual([
      400,
      { message, type: "invalid_request_error", param: "model", code: "unsupported_value" },
    ]);
    expect((await errorOf(await post("/v1/embeddings", { model: "small" }))).message).toContain("`input` must be");
  });
});

describe("/v1/rerank and /v1/score", () => {
  let emulators: TestEmulators;
  beforeEach(async () => {
    emulators = new TestEmulators(await freePort());
  });
  afterEach(() => emulators.end());
  const query = "Which river is longest?";
  const documents = ["A pond.", "The longest river is long.", "Which river?"];

  it("are an engine's own, passed through in vLLM's shapes, and recorded", async () => {
    const { post, decisions } = await emulatedStages(emulators);
    const ranked = (await (await post("/v1/rerank", { model: MODEL, query, documents, top_n: 2 })).json()) as {
      results: { index: number; relevance_score: number; document: { text: string } }[];
    };
    expect(ranked).toMatchObject({ model: MODEL, usage: { total_tokens: expect.any(Number) } });
    const [first, second, ...others] = ranked.results;
    expect([first?.document.text, others]).toEqual([documents[first?.index ?? -1], []]);
    expect(first?.relevance_score).toBeGreaterThan(second?.relevance_score ?? Number.NaN);
    expect([first?.index, second?.index]).not.toContain(0);
    const scored = (await (await post("/v1/score", { model: MODEL, text_1: query, text_2: documents })).json()) as {
      data: { index: number; object: string; score: number }[];
    };
    expect(scored.data.map(({ index, object }) => [index, object])).toEqual(documents.map((_, index) => [index, "score"]));
    expect(scored.data[first?.index ?? -1]?.score).toBe(first?.relevance_score);
    const records = await decisions();
    expect(records.map(({ endpoint, status }) => [endpoint, status])).toEqual([
      ["/v1/rerank", 200],
      ["/v1/score", 200],
    ]);
    expect(records.every(({ stages }) => (stages[0]?.inputTokens ?? 0) > 0)).toBe(true);
  });

  it("are not made by a cascade, and need what they rank, which is said in a sentence", async () => {
    const { post } = await emulatedStages(emulators);
    const refusalOf = async (path: string, body: object) => {
      const answer = await post(path, body);
      return [answer.status, (await errorOf(answer)).message];
    };
    const of = "cascade/test is a cascade, which";
    expect(await refusalOf("/v1/rerank", { model: "cascade/test", query, documents })).toEqual([
      400,
      `${of} /v1/rerank does not serve: name a model instead.`,
    ]);
    expect(await refusalOf("/v1/score", { model: "cascade/test", text_1: "a", text_2: "b" })).toEqual([
      400,
      `${of} /v1/score does not serve: name a model instead.`,
    ]);
    expect(await refusalOf("/v1/rerank", { model: MODEL, documents })).toEqual([400, "`query` must be a text."]);
    expect(await refusalOf("/v1/rerank", { model: MODEL, query, documents: [] })).toEqual([400, "`documents` must be a list of texts."]);
    expect(await refusalOf("/v1/score", { model: MODEL, text_1: "a" })).toEqual([
      400,
      "`text_1` and `text_2` must each be a text or a list of texts.",
    ]);
    // What only the engine knows it says itself.
    expect(await refusalOf("/v1/score", { model: MODEL, text_1: ["a", "b"], text_2: ["c"] })).toEqual([
      400,
      "Input lengths must be either 1:1, 1:N or N:N",
    ]);
  });
});

describe("the other paths", () => {
  it("list the context length that engines tell: of a cascade the smallest", async () => {
    const stages = await Promise.all(
      [
        ["small", 4096],
        ["large", 8192],
      ].map(async ([model, tokens]) => {
        const engine = await engineSays("x");
        const data = [
          { id: "another", max_model_len: 1 },
          { id: model, max_model_len: tokens },
        ];
        engine.pages.set("/v1/models", (response) => response.writeHead(200).end(JSON.stringify({ object: "list", data })));
        return { model: String(model), urls: [engine.url] };
      }),
    );
    const { dataUrl, put } = await startTestGateway();
    await put(testConfig({ stages, thresholds: [0] }));
    const list = (await (await fetch(`${dataUrl}/v1/models`)).json()) as { data: { id: string; max_model_len?: number }[] };
    expect(list.data.map(({ id, max_model_len: tokens }) => [id, tokens])).toEqual([
      ["cascade/default", 4096],
      ["cascade/test", 4096],
      ["small", 4096],
      ["large", 8192],
    ]);
  });

  it("tell health, readiness, version and the models, each in the shape clients expect", async () => {
    const engine = await engineSays("x");
    const { dataUrl, put } = await startTestGateway();
    const statusOf = async (path: string) => (await fetch(`${dataUrl}${path}`)).status;
    expect([await statusOf("/health"), await statusOf("/health/ready")]).toEqual([200, 503]);
    await put(oneModel([engine.url]));
    expect(await statusOf("/health/ready")).toBe(200);
    expect(await (await fetch(`${dataUrl}/version`)).json()).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    const list = (await (await fetch(`${dataUrl}/v1/models`)).json()) as { object: string; data: unknown[] };
    expect(list.object).toBe("list");
    const endpoints = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions"];
    const entry = { id: "cascade/default", object: "model", created: expect.any(Number), owned_by: "weir" };
    expect(list.data[0]).toEqual({ ...entry, endpoints });
  });
});

describe("a chat with tools", () => {
  const call = { id: "call-1", type: "function", function: { name: "level", arguments: '{"river":"Avon"}' } };
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "user", content: "How high is the Avon?" },
    { role: "assistant", content: null, tool_calls: [{ ...call, type: "function" }] },
    { role: "tool", tool_call_id: "call-1", content: "1.2 m" },
  ];
  const tools: OpenAI.ChatCompletionTool[] = [{ type: "function", function: { name: "level", parameters: { type: "object" } } }];

  /** A small model that calls a tool, and a judge that gives 80. */
  async function toolCascade() {
    const message = { role: "assistant", content: null, tool_calls: [call], reasoning_content: "look it up" };
    const choices = [{ index: 0, message, finish_reason: "tool_calls", logprobs: null, stop_reason: 7 }];
    const said = JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "small", choices, kv_transfer_params: null });
    const small = await startTestEngine((_, response) => response.writeHead(200, { "content-type": "application/json" }).end(said));
    const judge = await startTestEngine((_, response) => sayCompletion(response, "80"));
    const gateway = await startTestGateway();
    const stages = ["small", "large"].map((model) => ({ model, urls: [small.url] }));
    await gateway.put(testConfig({ stages, thresholds: [70], judgeUrl: judge.url }));
    return { ...gateway, client: clientOf(gateway.dataUrl), said, small, judge };
  }

  it("reaches the engine and comes back byte for byte, and the judge reads the calls as text", async () => {
    const { post, said, small, judge } = await toolCascade();
    const extra = { tools, tool_choice: "auto", guided_json: { type: "object" }, chat_template_kwargs: { thinking: false }, top_k: 5 };
    const answer = await post("/v1/chat/completions", { model: "cascade/test", messages, ...extra });
    expect(await answer.text()).toBe(said);
    expect(small.asked[0]?.body).toEqual({ model: "small", messages, ...extra });
    const [read] = (judge.asked[0]?.body.messages ?? []) as { content: string }[];
    expect(read?.content).toContain(`assistant: ${JSON.stringify([call])}\ntool: 1.2 m`);
    expect(read?.content.endsWith(`[answer]\n${JSON.stringify([call])}`)).toBe(true);
  });

  it("is put together by the official client from the stream of an accepted answer", async () => {
    const { client } = await toolCascade();
    const stream = client.chat.completions.stream({ model: "cascade/test", messages, tools });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(choices[0]?.message.tool_calls).toMatchObject([call]);
  });
});

describe("the official client", () => {
  it("gets errors of the gateway and of engines as errors of their kind", async () => {
    const engine = await startTestEngine(({ body }, response) =>
      body.user === "full"
        ? response.writeHead(429, { "content-type": "application/json" }).end("{}")
        : response
            .writeHead(400, { "content-type": "application/json" })
            .end('{"error":{"message":"too long","type":"BadRequestError","param":"messages","code":400}}'),
    );
    const gateway = await startTestGateway({ attemptsPerStage: 1 });
    await gateway.put(oneModel([engine.url]));
    const client = clientOf(gateway.dataUrl);
    const ask = (model: string, user: string) =>
      client.chat.completions.create({ model, user, messages: [{ role: "user", content: "?" }] });
    await expect(ask("gone", "")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(ask("large", "")).rejects.toMatchObject({ status: 400, param: "messages", message: "400 too long" });
    await expect(ask("large", "full")).rejects.toMatchObject({ status: 429, code: "engine_full" });
  });

  it("cuts the engine's work short when it aborts a stream", async () => {
    const asked: Asked[] = [];
    const engine = await startTestEngine((one, response) => {
      asked.push(one);
      response.writeHead(200, { "content-type": "text/event-stream" }).write(streamEvent({ content: "first" }));
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const stream = await clientOf(gateway.dataUrl).chat.completions.create({
      model: "large",
      messages: [{ role: "user", content: "?" }],
      stream: true,
    });
    for await (const chunk of stream) {
      expect(chunk.choices[0]?.delta.content).toBe("first");
      stream.controller.abort();
    }
    await asked[0]?.cutOff;
  });
});

describe("curl", () => {
  it("reads a stream event by event, and the decision in its headers", async () => {
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${streamEvent({ role: "assistant", content: "" })}${streamEvent({ content: "4" }, "stop")}data: [DONE]\n\n`);
    });
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const body = JSON.stringify({ model: "cascade/default", stream: true, messages: [{ role: "user", content: "2 + 2" }] });
    const { stdout } = await run("curl", [
      "-sSiN",
      `${gateway.dataUrl}/v1/chat/completions`,
      "-H",
      "content-type: application/json",
      "-d",
      body,
    ]);
    const [head = "", ...events] = stdout.split(/\r\n\r\n|\n\n/);
    expect(head).toMatch(/^HTTP\/1.1 200 OK/);
    for (const name of ["decision-id", "plan", "policy", "model", "stage", "escalations", "queue-ms", "overhead-ms"])
      expect(head).toMatch(new RegExp(`^x-weir-${name}: \\S+`, "m"));
    expect(head).toMatch(/^content-type: text\/event-stream/m);
    expect(events.filter(Boolean)).toEqual([
      streamEvent({ role: "assistant", content: "" }).trim(),
      streamEvent({ content: "4" }, "stop").trim(),
      "data: [DONE]",
    ]);
  });

  it("gets a body of 10 MB refused with 413 and an error object", async () => {
    const gateway = await startTestGateway();
    const url = `${gateway.dataUrl}/v1/chat/completions`;
    const json = ["-H", "content-type: application/json", "--data-binary", "@-"];
    const child = run("curl", ["-sS", "-o", "-", "-w", "%{http_code}", url, ...json]);
    child.child.stdin?.on("error", () => undefined).end("x".repeat(10_000_000));
    const { stdout } = await child;
    expect(stdout).toMatch(/^\{"error":\{"message":"The body is longer than 8388608 bytes[^\n]*"code":"body_too_large"\}\}413$/);
  });
});
