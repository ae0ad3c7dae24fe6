import { describe, expect, it } from "vitest";
import { completionEvents } from "./completionEvents";

function events(text: string): unknown[] {
  return text
    .split("\n\n")
    .filter((line) => line !== "" && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice("data: ".length)));
}

const head = { id: "c1", created: 5, model: "small", system_fingerprint: "f" };

describe("completionEvents", () => {
  it("turns each choice into a role, its content with log probabilities, and a finish reason", () => {
    const choices = ["one", "two"].map((content, index) => ({
      index,
      message: { role: "assistant", content, refusal: null },
      finish_reason: "length",
      logprobs: { content: [] },
    }));
    const text = completionEvents({ ...head, object: "chat.completion", choices, usage: { total_tokens: 3 } }, { includeUsage: false });
    const chunks = events(text) as { choices: { index: number; delta: object; finish_reason: string | null; logprobs?: object }[] }[];
    expect(chunks.map(({ choices: [choice] }) => [choice?.index, choice?.delta, choice?.finish_reason])).toEqual([
      [0, { role: "assistant", content: "" }, null],
      [0, { content: "one" }, null],
      [0, {}, "length"],
      [1, { role: "assistant", content: "" }, null],
      [1, { content: "two" }, null],
      [1, {}, "length"],
    ]);
    expect(chunks[1]?.choices[0]?.logprobs).toEqual({ content: [] });
    expect(chunks[0]).toMatchObject({ ...head, object: "chat.completion.chunk" });
    expect(text).not.toContain("usage");
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("numbers tool calls, keeps fields it does not know, and gives usage last when asked", () => {
    const message = {
      role: "assistant",
      content: null,
      reasoning_content: "hm",
      tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    const chunks = events(completionEvents({ ...head, choices, usage: { total_tokens: 3 } }, { includeUsage: true }));
    expect(chunks[1]).toMatchObject({
      choices: [{ delta: { reasoning_content: "hm", tool_calls: [{ index: 0, id: "t", function: { name: "f" } }] } }],
    });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 3 } });
  });
});
