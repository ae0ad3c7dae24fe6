import type { ChatCompletionCreateParamsNonStreaming, ResponseFormatJSONSchema } from "openai/resources";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "@/server/testing/freePorts";
import { ask, MODEL, post, TestEmulators } from "./testEmulators";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

const TAG = `[emulated answer short by ${MODEL}]`;
const properties = { summary: { type: "string" }, score: { type: "integer", minimum: 1 } };
const format = {
  type: "json_schema",
  json_schema: { name: "review", strict: true, schema: { type: "object", properties, required: ["summary", "score"] } },
} satisfies ResponseFormatJSONSchema;
type Asked = ChatCompletionCreateParamsNonStreaming;

describe("an emulated engine that is asked for JSON", () => {
  it("writes what the schema asks for around the tag that says whose answer it is, whole or streamed", async () => {
    const { client } = await emulators.serving(200);
    const whole = await client.chat.completions.create({ ...ask("short"), response_format: format } satisfies Asked);
    expect(JSON.parse(whole.choices[0]?.message.content ?? "")).toEqual({ summary: TAG, score: 1 });
    expect([whole.choices[0]?.finish_reason, whole.usage?.completion_tokens]).toEqual(["stop", 40]);
    let streamed = "";
    for await (const { choices } of await client.chat.completions.create({ ...ask("short"), response_format: format, stream: true }))
      streamed += choices[0]?.delta.content ?? "";
    expect(streamed).toBe(whole.choices[0]?.message.content);
  });

  it("writes an object where any will do, in as many tokens as it has characters at most", async () => {
    const { client } = await emulators.serving(200, [400, 400]);
    const response_format = { type: "json_object" } as const;
    const { choices, usage } = await client.chat.completions.create({ ...ask("short"), response_format, logprobs: true });
    const text = choices[0]?.message.content ?? "";
    expect(JSON.parse(text)).toEqual({ answer: TAG });
    expect(usage?.completion_tokens).toBe(text.length);
    expect(choices[0]?.logprobs?.content?.map(({ token }) => token).join("")).toBe(text);
  });

  it("cuts it at the limit of tokens", async () => {
    const { client } = await emulators.serving(200);
    const { choices } = await client.chat.completions.create({ ...ask("short"), response_format: format, max_tokens: 3 });
    expect(choices[0]?.finish_reason).toBe("length");
    expect(choices[0]?.message.content).toMatch(/^\{"/);
  });

  it("writes it as the continuation of a text too", async () => {
    const { engineUrl } = await emulators.serving(200);
    const answer = await fetch(`${engineUrl}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt: "[prompt short] What is it?", max_tokens: 100, response_format: format }),
    });
    const { choices } = (await answer.json()) as { choices: { text: string }[] };
    expect(JSON.parse(choices[0]?.text ?? "")).toEqual({ summary: TAG, score: 1 });
  });

  it.each<readonly [string, object, unknown]>([
    ["a schema", { json: format.json_schema.schema }, JSON.stringify({ summary: TAG, score: 1 })],
    ["a schema as text", { json: JSON.stringify({ const: 5 }) }, "5"],
    ["any object", { json_object: true }, JSON.stringify({ answer: TAG })],
    ["a choice", { choice: ["positive", "negative"] }, "positive"],
    ["a pattern", { regex: "^\\d{3}$" }, "000"],
  ])("reads vLLM's own field with %s", async (_, structured_outputs, content) => {
    const { engineUrl } = await emulators.serving(200);
    const answer = (await (await post(engineUrl, { ...ask("short"), structured_outputs })).json()) as { choices: [{ message: unknown }] };
    expect(answer.choices[0].message).toMatchObject({ content });
  });

  it.each<readonly [string, object, RegExp]>([
    ["a keyword that it does not read", { response_format: { type: "json_schema", json_schema: { schema: { not: {} } } } }, /"not"/],
    ["a format without its schema", { response_format: { type: "json_schema" } }, /needs `json_schema`/],
    ["an unknown format", { response_format: { type: "xml" } }, /no `response_format` of the type xml/],
    ["a grammar", { structured_outputs: { grammar: "root ::= [0-9]" } }, /do not read `structured_outputs.grammar`/],
    [
      "arguments that it cannot write",
      { tools: [{ type: "function", function: { name: "f", parameters: { not: {} } } }], tool_choice: "required" },
      /"not"/,
    ],
  ])("refuses %s in a sentence", async (_, fields, sentence) => {
    const { engineUrl } = await emulators.serving(200);
    const answer = await post(engineUrl, { ...ask("short"), ...fields });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { message: expect.stringMatching(sentence) } }]);
  });

  it("calls a tool that the question names, and answers with text once it has the result", async () => {
    const { client } = await emulators.serving(200);
    const tools = [{ type: "function" as const, function: { name: "get_weather", parameters: format.json_schema.schema } }];
    const messages: Asked["messages"] = [{ role: "user", content: "How is the weather?" }];
    const first = await client.chat.completions.create({ model: MODEL, messages, tools });
    const message = first.choices[0]?.message;
    expect(first.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { tool_calls: [{ function: { name: "get_weather", arguments: '{"summary":"text","score":1}' } }] },
    });
    if (message === undefined) throw new Error("There is no message.");
    messages.push(message, { role: "tool", tool_call_id: message.tool_calls?.[0]?.id ?? "", content: "Rain." });
    const second = await client.chat.completions.create({ model: MODEL, messages, tools });
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: expect.stringContaining("[emulated answer ") } });
  });

  it("gives log probabilities of as many tokens as are asked for, the written one first, which together are no more than certain", async () => {
    const { client } = await emulators.serving(200);
    const { choices } = await client.chat.completions.create({ ...ask("short"), logprobs: true, top_logprobs: 5 });
    const content = choices[0]?.logprobs?.content ?? [];
    expect(content).toHaveLength(40);
    for (const { token, logprob, top_logprobs } of content) {
      expect(top_logprobs).toHaveLength(5);
      expect(top_logprobs[0]).toMatchObject({ token, logprob });
      expect(top_logprobs.reduce((sum, one) => sum + Math.exp(one.logprob), 0)).toBeLessThanOrEqual(1 + 1e-9);
    }
  });
});
