import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { emulatedStages, LARGE } from "../testing/testEmulatedStages";
import { until } from "../testing/testGateway";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

const question = "[prompt short] How is the weather?";
const schema = {
  type: "object" as const,
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
  required: ["city", "days"],
};

interface Call {
  readonly name: string;
  readonly arguments: unknown;
}

interface Asked {
  readonly model: string;
  readonly signal?: AbortSignal;
}

/** One API as its official client calls it. */
interface Api {
  readonly path: string;
  plain(asked: Asked): Promise<{ readonly text: string; readonly model: string; readonly tokens: readonly (number | undefined)[] }>;
  /** @param onText called for each piece. */
  stream(asked: Asked, onText?: () => void): Promise<{ readonly text: string; readonly tokens: readonly (number | undefined)[] }>;
  calls(asked: Asked, streamed: boolean): Promise<readonly Call[]>;
  structured(asked: Asked, streamed: boolean): Promise<string>;
}

function chatApi(dataUrl: string): Api {
  const client = new OpenAI({ baseURL: `${dataUrl}/v1`, apiKey: "none", maxRetries: 0 });
  const messages = [{ role: "user" as const, content: question }];
  const tools = [{ type: "function" as const, function: { name: "get_weather", parameters: schema } }];
  const response_format = { type: "json_schema" as const, json_schema: { name: "forecast", schema } };
  const whole = (
    body: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "messages" | "stream">,
    streamed: boolean,
  ): Promise<OpenAI.ChatCompletion> =>
    streamed
      ? client.chat.completions.stream({ ...body, messages }).finalChatCompletion()
      : client.chat.completions.create({ ...body, messages });
  return {
    path: "/v1/chat/completions",
    async plain({ model }) {
      const { choices, usage, model: by } = await client.chat.completions.create({ model, messages });
      return { text: choices[0]?.message.content ?? "", model: by, tokens: [usage?.prompt_tokens, usage?.completion_tokens] };
    },
    async stream({ model, signal }, onText) {
      const stream_options = { include_usage: true };
      const stream = client.chat.completions.stream({ model, messages, stream_options }, { signal });
      stream.on("content", () => onText?.());
      const { choices, usage } = await stream.finalChatCompletion();
      return { text: choices[0]?.message.content ?? "", tokens: [usage?.prompt_tokens, usage?.completion_tokens] };
    },
    async calls({ model }, streamed) {
      const { choices } = await whole({ model, tools, tool_choice: "required" }, streamed);
      return (choices[0]?.message.tool_calls ?? []).flatMap((call) =>
        call.type === "function" ? [{ name: call.function.name, arguments: JSON.parse(call.function.arguments) }] : [],
      );
    },
    async structured({ model }, streamed) {
      return (await whole({ model, response_format }, streamed)).choices[0]?.message.content ?? "";
    },
  };
}

function messagesApi(dataUrl: string): Api {
  const client = new Anthropic({ baseURL: dataUrl, apiKey: "none", maxRetries: 0 });
  const base = { max_tokens: 5000, messages: [{ role: "user" as const, content: question }] };
  const tools = [{ name: "get_weather", input_schema: schema }];
  const textOf = ({ content }: Anthropic.Message): string => content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const whole = (
    body: Omit<Anthropic.MessageCreateParamsNonStreaming, "max_tokens" | "messages">,
    streamed: boolean,
  ): Promise<Anthropic.Message> =>
    streamed ? client.messages.stream({ ...base, ...body }).finalMessage() : client.messages.create({ ...base, ...body });
  return {
    path: "/v1/messages",
    async plain({ model }) {
      const message = await client.messages.create({ ...base, model });
      expect([message.type, message.role, message.stop_reason]).toEqual(["message", "assistant", "end_turn"]);
      return { text: textOf(message), model: message.model, tokens: [message.usage.input_tokens, message.usage.output_tokens] };
    },
    async stream({ model, signal }, onText) {
      const stream = client.messages.stream({ ...base, model }, { signal });
      stream.on("text", () => onText?.());
      const message = await stream.finalMessage();
      return { text: textOf(message), tokens: [message.usage.input_tokens, message.usage.output_tokens] };
    },
    async calls({ model }, streamed) {
      const message = await whole({ model, tools, tool_choice: { type: "any" } }, streamed);
      expect(message.stop_reason).toBe("tool_use");
      return message.content.flatMap((block) => (block.type === "tool_use" ? [{ name: block.name, arguments: block.input }] : []));
    },
    async structured({ model }, streamed) {
      return textOf(await whole({ model, output_config: { format: { type: "json_schema", schema } } }, streamed));
    },
  };
}

function responsesApi(dataUrl: string): Api {
  const client = new OpenAI({ baseURL: `${dataUrl}/v1`, apiKey: "none", maxRetries: 0 });
  const tools = [{ type: "function" as const, name: "get_weather", parameters: schema, strict: false }];
  const whole = async (
    body: Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "input" | "stream">,
    streamed: boolean,
  ): Promise<OpenAI.Responses.Response> =>
    streamed
      ? client.responses.stream({ ...body, input: question }).finalResponse()
      : client.responses.create({ ...body, input: question });
  return {
    path: "/v1/responses",
    async plain({ model }) {
      const response = await client.responses.create({ model, input: question });
      expect([response.object, response.status]).toEqual(["response", "completed"]);
      return { text: response.output_text, model: response.model, tokens: [response.usage?.input_tokens, response.usage?.output_tokens] };
    },
    async stream({ model, signal }, onText) {
      const stream = client.responses.stream({ model, input: question }, { signal });
      stream.on("response.output_text.delta", () => onText?.());
      const response = await stream.finalResponse();
      return { text: response.output_text, tokens: [response.usage?.input_tokens, response.usage?.output_tokens] };
    },
    async calls({ model }, streamed) {
      const { output } = await whole({ model, tools, tool_choice: "required" }, streamed);
      return output.flatMap((item) => (item.type === "function_call" ? [{ name: item.name, arguments: JSON.parse(item.arguments) }] : []));
    },
    async structured({ model }, streamed) {
      return (await whole({ model, text: { format: { type: "json_schema", name: "forecast", schema } } }, streamed)).output_text;
    },
  };
}

const apis = { chat: chatApi, messages: messagesApi, responses: responsesApi };
const served = { "a model": [MODEL, MODEL], "a cascade": ["cascade/test", LARGE] } as const;
const cases = Object.entries(apis).flatMap(([api, of]) =>
  Object.entries(served).map(([what, [model, by]]) => ({ api, what, of, model, by })),
);

describe.each(cases)("the official client of $api, served by $what,", ({ of, model, by }) => {
  it("gets the same text and tokens whole and streamed, and the record names its endpoint", async () => {
    const { dataUrl, decisions } = await emulatedStages(emulators);
    const api = of(dataUrl);
    const whole = await api.plain({ model });
    expect(whole.text).toContain(`[emulated answer short by ${by}]`);
    expect(whole.model).toBe(by);
    expect(whole.tokens.every((count) => (count ?? 0) > 0)).toBe(true);
    const { text, tokens } = await api.stream({ model });
    expect({ text, tokens }).toEqual({ text: whole.text, tokens: whole.tokens });
    const records = await decisions();
    expect(records.map(({ endpoint, status }) => [endpoint, status])).toEqual([
      [api.path, 200],
      [api.path, 200],
    ]);
    expect(records.map(({ stages }) => stages.length)).toEqual(model === MODEL ? [1, 1] : [2, 2]);
  });

  it("gets a call of the tool that it demands, whole and streamed", async () => {
    const api = of((await emulatedStages(emulators)).dataUrl);
    for (const streamed of [false, true])
      expect(await api.calls({ model }, streamed)).toEqual([{ name: "get_weather", arguments: { city: "text", days: 1 } }]);
  });

  it("gets JSON of its schema, whole and streamed", async () => {
    const api = of((await emulatedStages(emulators)).dataUrl);
    for (const streamed of [false, true])
      expect(JSON.parse(await api.structured({ model }, streamed))).toEqual({ city: `[emulated answer short by ${by}]`, days: 1 });
  });

  it("ends the request where it disconnects in the middle", async () => {
    const { dataUrl, decisions } = await emulatedStages(emulators, { outputTokens: [4000, 4000], timeScale: 5 });
    const abort = new AbortController();
    const asked = of(dataUrl).stream({ model, signal: abort.signal }, () => abort.abort());
    // A cascade holds its stream back until an answer is accepted.
    if (model !== MODEL) setTimeout(() => abort.abort(), 100);
    await expect(asked).rejects.toThrow();
    await until(async () => (await decisions()).length === 1);
    expect((await decisions())[0]).toMatchObject({ status: 499, aborted: "client-gone" });
  });

  it("raises the error of a name that nothing is served under", async () => {
    const api = of((await emulatedStages(emulators)).dataUrl);
    const message = expect.stringContaining("is not served here; GET /v1/models lists what is.");
    for (const asked of [api.plain({ model: "none" }), api.stream({ model: "none" })])
      await expect(asked).rejects.toMatchObject({ status: 404, message });
  });
});
