import { afterEach, beforeEach, expect, it } from "vitest";
import { freePort } from "@/server/testing/freePorts";
import { ask, metric, post, TestEmulators } from "./testEmulators";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 }, unit: { type: "string" } },
  required: ["city", "days"],
};
const tools = [{ type: "function" as const, function: { name: "forecast", parameters } }];
const forced = { ...ask("short"), tools, tool_choice: { type: "function" as const, function: { name: "forecast" } } };
const WRITTEN = '{"city":"text","days":1}';

it("answers with a call of the named function, whole or streamed, over the tokens that the outcomes give", async () => {
  const { client, engineUrl } = await emulators.serving(200);
  const whole = await client.chat.completions.create(forced);
  expect(whole.choices[0]?.message.tool_calls).toMatchObject([{ type: "function", function: { name: "forecast", arguments: WRITTEN } }]);
  expect(whole.usage?.completion_tokens).toBe(40);

  let [name, written, finishReason] = ["", "", ""];
  for await (const { choices } of await client.chat.completions.create({ ...forced, stream: true })) {
    const called = choices[0]?.delta.tool_calls?.[0]?.function;
    name += called?.name ?? "";
    written += called?.arguments ?? "";
    finishReason = choices[0]?.finish_reason ?? "";
  }
  expect([name, written, finishReason]).toEqual(["forecast", WRITTEN, "stop"]);

  const read = (mode: string, outcome: string) =>
    metric(engineUrl, "vllm:tool_call_parser_invocations_total", `mode="${mode}",outcome="${outcome}",request_type="chat_completions"`);
  expect(await read("non_streaming", "tool_call")).toBe(1);
  // The name and a piece for each character, then tokens without text, and the end.
  expect(await read("streaming", "tool_call")).toBe(1 + WRITTEN.length);
  expect(await read("streaming", "no_tool_call")).toBe(40 - WRITTEN.length);
});

it("cuts a call at the limit of tokens", async () => {
  const { client } = await emulators.serving(200);
  const { choices } = await client.chat.completions.create({ ...forced, max_tokens: 10 });
  const [call] = choices[0]?.message.tool_calls ?? [];
  expect(choices[0]?.finish_reason).toBe("length");
  expect(call).toMatchObject({ function: { name: "forecast" } });
  const written = (call as { readonly function: { readonly arguments: string } }).function.arguments;
  expect(written.length).toBeLessThan(WRITTEN.length);
  expect(WRITTEN.startsWith(written)).toBe(true);
});

it("answers with text where it may call a tool, and says so in its metrics", async () => {
  const { client, engineUrl } = await emulators.serving(200);
  const { choices } = await client.chat.completions.create({ ...ask("short"), tools });
  expect(choices[0]).toMatchObject({ message: { content: expect.stringContaining("[emulated answer short") }, finish_reason: "stop" });
  expect(choices[0]?.message.tool_calls).toBeUndefined();
  expect(await metric(engineUrl, "vllm:tool_call_parser_invocations_total", 'mode="non_streaming",outcome="no_tool_call"')).toBe(1);
});

it("refuses a choice of tools that is none", async () => {
  const { engineUrl } = await emulators.serving(200);
  const answer = await post(engineUrl, { ...ask("short"), tools, tool_choice: "any" });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining("Invalid value for `tool_choice`: any!") } });
});
