import { expect, it } from "vitest";
import { providerCompletion } from "./providerAnswer";
import { ProviderEvents } from "./providerEvents";
import { providerRequest } from "./providerRequest";

it("keeps the numbers of tools' arguments in a request digit by digit", () => {
  const call = { id: "c", type: "function", function: { name: "look", arguments: '{"id":12345678901234567890}' } };
  const text = providerRequest({
    model: "m",
    max_tokens: 5,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "developer", content: [{ type: "text", text: "And exact." }] },
      { role: "user", content: "Look." },
      { role: "assistant", content: null, tool_calls: [call, { ...call, id: "d" }] },
      { role: "tool", tool_call_id: "c", content: "one" },
      { role: "tool", tool_call_id: "d", content: "two" },
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
    ],
    stop: "END",
    temperature: 1.7,
    seed: 4,
  });
  expect(text).toContain('"input":{"id":12345678901234567890}');
  const { messages, ...body } = JSON.parse(text);
  expect(body).toEqual({ model: "m", max_tokens: 5, system: "Be brief.\n\nAnd exact.", stop_sequences: ["END"], temperature: 1 });
  expect(
    messages.map(({ role, content }: { role: string; content: { type: string }[] }) => [role, content.map(({ type }) => type)]),
  ).toEqual([
    ["user", ["text"]],
    ["assistant", ["tool_use", "tool_use"]],
    ["user", ["tool_result", "tool_result", "image"]],
  ]);
});

it.each([
  ["several answers", { n: 2 }, "n"],
  [
    "arguments that are no object",
    { messages: [{ role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: "[1" } }] }] },
    "arguments",
  ],
  ["a part that it cannot read", { messages: [{ role: "user", content: [{ type: "input_audio" }] }] }, "input_audio"],
])("refuses %s", (_, change, says) => {
  expect(() => providerRequest({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "a" }], ...change })).toThrow(says);
});

it("reads a message as a completion, with its tools' inputs as they are written and its cached tokens in the prompt", () => {
  const message =
    '{"id":"msg","model":"m","content":[{"type":"thinking","thinking":"Hm."},{"type":"tool_use","id":"t","name":"f","input":{"n":12345678901234567890}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"cache_read_input_tokens":4,"output_tokens":2}}';
  expect(providerCompletion(message, 1)).toMatchObject({
    choices: [
      {
        finish_reason: "tool_calls",
        message: {
          content: null,
          reasoning_content: "Hm.",
          tool_calls: [{ id: "t", function: { arguments: '{"n":12345678901234567890}' } }],
        },
      },
    ],
    usage: { prompt_tokens: 7, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } },
  });
  expect(providerCompletion("[]", 1)).toBeNull();
});

it("reads a stream the same wherever its bytes are cut, and ends it only where the provider does", () => {
  const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const events = [
    event("message_start", { message: { id: "msg", model: "m", usage: { input_tokens: 3 } } }),
    event("content_block_start", { index: 0, content_block: { type: "tool_use", id: "t", name: "f" } }),
    event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: '{"a":1}' } }),
    event("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } }),
  ].join("");
  const stop = event("message_stop", {});
  const read = (text: string, size: number): string => {
    const stream = new ProviderEvents({ includeUsage: true, nowSeconds: 1, longestEvent: 1000 });
    const bytes = Buffer.from(text);
    let written = "";
    for (let at = 0; at < bytes.length; at += size) written += stream.feed(bytes.subarray(at, at + size));
    return written;
  };
  const whole = read(events + stop, 10_000);
  for (const size of [1, 7, 64]) expect(read(events + stop, size)).toBe(whole);
  expect(whole).toContain('"finish_reason":"tool_calls"');
  expect(whole).toContain('"prompt_tokens":3,"completion_tokens":2');
  expect(whole.endsWith("data: [DONE]\n\n")).toBe(true);
  expect(read(events, 64)).not.toContain("[DONE]");
});
