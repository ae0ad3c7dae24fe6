import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { carriedOr } from "./bodyFields";
import { responsesRequest } from "./responsesRequest";

const chatOf = (body: Record<string, unknown>, before: readonly Record<string, unknown>[] = []) =>
  responsesRequest({ model: "m", ...body }, before);

describe("a body of the Responses API", () => {
  it("keeps every text, id, name and argument of a conversation with functions", () => {
    const turn = fc.record({
      question: fc.string(),
      said: fc.string(),
      calls: fc.array(fc.record({ call_id: fc.string(), name: fc.string(), arguments: fc.string(), output: fc.string() }), {
        minLength: 1,
        maxLength: 3,
      }),
    });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
        const input = turns.flatMap(({ question, said, calls }) => [
          { role: "user", content: [{ type: "input_text", text: question }] },
          { type: "message", role: "assistant", content: [{ type: "output_text", text: said, annotations: [] }] },
          ...calls.map(({ output: _, ...call }) => ({ type: "function_call", ...call })),
          ...calls.map(({ call_id, output }) => ({ type: "function_call_output", call_id, output })),
        ]);
        const chat = turns.flatMap(({ question, said, calls }) => [
          { role: "user", content: question },
          {
            role: "assistant",
            content: said,
            tool_calls: calls.map(({ call_id: id, name, arguments: text }) => ({
              id,
              type: "function",
              function: { name, arguments: text },
            })),
          },
          ...calls.map(({ call_id, output }) => ({ role: "tool", tool_call_id: call_id, content: output })),
        ]);
        expect(chatOf({ input }).body.messages).toEqual(chat);
      }),
    );
  });

  it("carries instructions, functions, formats and limits in the fields of engines", () => {
    const format = { type: "json_schema", name: "n", schema: { type: "object" }, strict: true };
    const { body, ignored, conversation } = chatOf({
      input: [
        { role: "developer", content: "Be kind." },
        { role: "user", content: "q" },
      ],
      instructions: "Be brief.",
      tools: [{ type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: true }],
      tool_choice: { type: "function", name: "f" },
      parallel_tool_calls: false,
      text: { format, verbosity: "low" },
      max_output_tokens: 20,
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      temperature: 0,
      store: false,
      metadata: { a: "b" },
      prompt_cache_key: "k",
      truncation: "disabled",
      seed: 1,
    });
    expect(body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief.\n\nBe kind." },
        { role: "user", content: "q" },
      ],
      tools: [{ type: "function", function: { name: "f", description: "d", parameters: { type: "object" }, strict: true } }],
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
      response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" }, strict: true } },
      max_tokens: 20,
      reasoning_effort: "high",
      temperature: 0,
      seed: 1,
    });
    expect(new Set(ignored)).toEqual(
      new Set(["prompt_cache_key", "include: reasoning.encrypted_content", "text.verbosity", "reasoning.summary"]),
    );
    expect(conversation).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "q" },
    ]);
  });

  it("names no member of `reasoning` that it does not know: ignored fields go into a header", () => {
    const { ignored } = chatOf({ input: "q", reasoning: { "naïve ☃": 1, "a\r\nb": 2, generate_summary: "auto", effort: "low" } });
    expect(ignored).toEqual(["reasoning", "reasoning.generate_summary"]);
  });

  it("continues a conversation, without the instructions of before", () => {
    const before = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
    ];
    const { body, conversation } = chatOf({ input: "c", instructions: "i" }, before);
    expect(body.messages).toEqual([{ role: "system", content: "i" }, ...before, { role: "user", content: "c" }]);
    expect(conversation).toEqual([...before, { role: "user", content: "c" }]);
  });

  it("puts images that functions return behind all results", () => {
    const image = { type: "input_image", image_url: "https://a.example/i.png", detail: "low" };
    const call = (call_id: string) => ({ type: "function_call", call_id, name: "f", arguments: "{}" });
    const { body } = chatOf({
      input: [
        { type: "reasoning", id: "r", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
        ...[call("a"), call("b")],
        { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "one" }, image] },
        { type: "function_call_output", call_id: "b", output: "two" },
        { role: "user", content: "q" },
      ],
    });
    const called = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
    expect(body.messages).toEqual([
      { role: "assistant", reasoning: "Hm.", reasoning_content: "Hm.", tool_calls: [called("a"), called("b")] },
      { role: "tool", tool_call_id: "a", content: "one" },
      { role: "tool", tool_call_id: "b", content: "two" },
      { role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/i.png", detail: "low" } }] },
      { role: "user", content: "q" },
    ]);
  });

  it.each([
    [{ input: [] }, "input", "must be a text, or a list with at least one item"],
    [{ background: true }, "background", "`background` is not supported"],
    [{ tools: [{ type: "web_search" }] }, "tools.0.type", "is of the type web_search, which only OpenAI runs"],
    [{ tool_choice: { type: "allowed_tools" } }, "tool_choice", "must be none, auto, required or a function"],
    [{ top_logprobs: 3 }, "top_logprobs", "`top_logprobs` is not supported"],
    [{ include: ["file_search_call.results"] }, "include", "names file_search_call.results"],
    [{ input: [{ type: "web_search_call", id: "x" }] }, "input.0.type", "is of the type web_search_call"],
    [{ input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] }, "input.0.content.0.type", "is of the type input_file"],
    [{ input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] }, "input.0.content.0", "needs an `image_url`"],
    [{ input: [{ type: "reasoning", summary: [], encrypted_content: "x" }] }, "input.0", "is encrypted reasoning"],
  ])("is refused where %j cannot be carried", (body, param, message) => {
    expect(carriedOr(() => chatOf({ input: "q", ...body }))).toEqual({ param, message: expect.stringContaining(message) });
  });
});
