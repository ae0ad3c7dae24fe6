import OpenAI, { APIError } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { engineOn, isReady, MODEL, outcomes, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, testConfig, until } from "../testing/testGateway";

const LARGE = "gemma-2-9b";
const TIME_SCALE = 100;

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

/** A gateway over two emulated engines, whose judge accepts no answer of the first, and the official client. */
async function studio(outputTokens: readonly [number, number] = [40, 60], timeScale = TIME_SCALE) {
  const { call } = await emulators.start(timeScale);
  const { models, ...book } = outcomes(outputTokens);
  await call("PUT", "/outcomes", { ...book, models: [MODEL, LARGE].map((model) => ({ ...models[0], model })) });
  const started = await Promise.all([MODEL, LARGE].map((model, gpu) => call("POST", "/engines", engineOn(gpu, { model }))));
  const engines = await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine));
  await until(async () => (await Promise.all(engines.map(({ url }) => isReady(url)))).every(Boolean));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "0", "weir-judge"));
  const gateway = await startTestGateway();
  const stages = [MODEL, LARGE].map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
  await gateway.put({ ...testConfig({ stages, thresholds: [50], judgeUrl: judge.url }), timeScale });
  return { call, client: new OpenAI({ baseURL: `${gateway.dataUrl}/v1`, apiKey: "none" }) };
}

const messages = [{ role: "user" as const, content: "[prompt short] How is the weather?" }];
const schema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
  required: ["city", "days"],
};
const tools = [{ type: "function" as const, function: { name: "get_weather", parameters: schema } }];
const response_format = { type: "json_schema" as const, json_schema: { name: "forecast", schema } };

describe.each([
  ["a model", MODEL, MODEL],
  ["a cascade", "cascade/test", LARGE],
])("the official client before emulated engines, by the name of %s", (_, model, by) => {
  it("gets a call of the tool that it demands, or that its question names, whole or streamed", async () => {
    const { client } = await studio();
    const calls = [
      { messages, tools, tool_choice: "required" as const },
      { messages: [{ role: "user" as const, content: "How is the weather?" }], tools },
    ];
    for (const asked of calls) {
      const { choices } = await client.chat.completions.create({ model, ...asked });
      expect(choices[0]?.finish_reason).toBe("tool_calls");
      expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: "get_weather", arguments: '{"city":"text","days":1}' } }]);
      const streamed = await client.chat.completions.stream({ model, ...asked }).finalChatCompletion();
      expect(streamed.choices[0]?.message.tool_calls).toMatchObject([
        { function: { name: "get_weather", arguments: '{"city":"text","days":1}' } },
      ]);
    }
  });

  it("gets JSON of its schema, whole or streamed", async () => {
    const { client } = await studio();
    const asked = { model, messages, response_format };
    const whole = await client.chat.completions.create(asked);
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
    for (const { choices } of [whole, streamed])
      expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual({ city: `[emulated answer short by ${by}]`, days: 1 });
  });

  it("gets the log probabilities that it asks for", async () => {
    const { client } = await studio();
    const { choices, usage } = await client.chat.completions.create({ model, messages, logprobs: true, top_logprobs: 3 });
    const content = choices[0]?.logprobs?.content ?? [];
    expect(content).toHaveLength(usage?.completion_tokens ?? 0);
    expect(content.map(({ token }) => token).join("")).toBe(choices[0]?.message.content);
    expect(content.every(({ top_logprobs }) => top_logprobs.length === 3)).toBe(true);
  });

  it("gets the continuation of a text, whole or streamed", async () => {
    const { client } = await studio();
    const asked = { model, prompt: "[prompt short] How is the weather?", max_tokens: 10, logprobs: 2 };
    const { choices } = await client.completions.create(asked);
    expect(choices[0]).toMatchObject({ text: expect.stringContaining(`[emulated answer short by ${by}]`), finish_reason: "length" });
    expect(choices[0]?.logprobs?.token_logprobs).toHaveLength(10);
    let text = "";
    for await (const event of await client.completions.create({ ...asked, stream: true })) text += event.choices[0]?.text ?? "";
    expect(text).toBe(choices[0]?.text);
  });
});

it("the official client raises an APIError where an emulated engine is stopped in the middle of a stream", async () => {
  const { call, client } = await studio([4000, 4000], 5);
  const stream = await client.chat.completions.create({ model: MODEL, messages, stream: true });
  const read = async (): Promise<void> => {
    let isFirst = true;
    for await (const { choices } of stream) {
      if (!isFirst || !choices[0]?.delta.content) continue;
      isFirst = false;
      void call("DELETE", "/engines/e0?graceSeconds=0");
    }
  };
  await expect(read()).rejects.toBeInstanceOf(APIError);
});
