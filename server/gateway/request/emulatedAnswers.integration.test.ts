import OpenAI, { APIError } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { emulatedStages, LARGE } from "../testing/testEmulatedStages";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

/** A gateway over two emulated engines, and the official client. */
async function studio(outputTokens?: readonly [number, number], timeScale?: number) {
  const { call, dataUrl } = await emulatedStages(emulators, { ...(outputTokens && { outputTokens }), ...(timeScale && { timeScale }) });
  return { call, client: new OpenAI({ baseURL: `${dataUrl}/v1`, apiKey: "none" }) };
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
