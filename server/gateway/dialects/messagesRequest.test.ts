import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { carriedOr } from "./bodyFields";
import { messagesRequest } from "./messagesRequest";

const base = { model: "m", max_tokens: 10 };

const chatOf = (body: Record<string, unknown>) => messagesRequest({ ...base, ...body }, () => JSON.stringify({ ...base, ...body }));

/** What refuses a body. */
const refusalOf = (body: Record<string, unknown>) => carriedOr(() => chatOf({ messages: [{ role: "user", content: "q" }], ...body }));

describe("a body of the Messages API", () => {
  it("keeps every text, id and name of a conversation with tools", () => {
    const turn = fc.record({
      question: fc.string(),
      said: fc.string({ minLength: 1 }),
      id: fc.string(),
      name: fc.string(),
      result: fc.string(),
    });
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.array(turn, { minLength: 1, maxLength: 4 }), (system, turns) => {
        const messages = turns.flatMap(({ question, said, id, name, result }) => [
          { role: "user", content: question },
          {
            role: "assistant",
            content: [
              { type: "text", text: said },
              { type: "tool_use", id, name, input: { said } },
            ],
          },
          { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
        ]);
        const chat = turns.flatMap(({ question, said, id, name, result }) => [
          { role: "user", content: question },
          {
            role: "assistant",
            content: said,
            tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify({ said }) } }],
          },
          { role: "tool", tool_call_id: id, content: result },
        ]);
        expect(chatOf({ system, messages }).body.messages).toEqual([{ role: "system", content: system }, ...chat]);
      }),
    );
  });

  it("keeps every digit of whole numbers in a tool's input, however the body is written", () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(), { minLength: 1 }), fc.constantFrom("", "  ", "\n\t"), (numbers, space) => {
        const input = `{"ids":${space}[${numbers.join(`,${space}`)}]}`;
        const text = `{"messages":${space}[{"content":[{"text":"]","type":"text"},{"type":"tool_use","id":"a","name":"f",${space}"input":${input}}],"role":"assistant"}]}`;
        const { body } = messagesRequest({ ...base, ...JSON.parse(text) }, () => text);
        const [message] = body.messages as [{ tool_calls: [{ function: { arguments: string } }] }];
        const written = message.tool_calls[0].function.arguments.match(/-?\d+/g)?.map(BigInt);
        expect(written).toEqual(numbers);
      }),
    );
  });

  it("carries tools, choices, formats and limits in the fields of engines", () => {
    const { body, ignored } = chatOf({
      messages: [{ role: "user", content: "q" }],
      system: [
        { type: "text", text: "x-anthropic-billing-header: cch=1" },
        { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
      ],
      tools: [{ name: "f", description: "d", input_schema: { type: "object" } }],
      tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
      stop_sequences: ["END"],
      temperature: 0.5,
      top_k: 4,
      metadata: { user_id: "u" },
      thinking: { type: "enabled", budget_tokens: 2000 },
      output_config: { effort: "low", format: { type: "json_schema", schema: { type: "object" } } },
      service_tier: "auto",
      stream: true,
      min_p: 0.1,
    });
    expect(body).toEqual({
      model: "m",
      max_tokens: 10,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "q" },
      ],
      tools: [{ type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
      stop: ["END"],
      temperature: 0.5,
      top_k: 4,
      user: "u",
      chat_template_kwargs: { enable_thinking: true },
      reasoning_effort: "low",
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" }, strict: true } },
      stream: true,
      stream_options: { include_usage: true },
      min_p: 0.1,
    });
    expect(new Set(ignored)).toEqual(new Set(["service_tier", "system: billing header", "cache_control", "thinking.budget_tokens"]));
  });

  it("passes no field on that asks for nothing an engine has", () => {
    const { body } = chatOf({ messages: [{ role: "user", content: "q" }], mcp_servers: [], container: null });
    expect(body).toEqual({ model: "m", max_tokens: 10, messages: [{ role: "user", content: "q" }] });
  });

  it("carries images of messages and of results, what failed, and what was thought before", () => {
    const source = { type: "base64", media_type: "image/png", data: "AAAA" };
    const { body } = chatOf({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look." },
            { type: "image", source: { type: "url", url: "https://a.example/i.png" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "" },
            { type: "tool_use", id: "a", name: "f", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "a",
              is_error: true,
              content: [
                { type: "text", text: "no" },
                { type: "image", source },
              ],
            },
            { type: "text", text: "Go on." },
          ],
        },
        { role: "assistant", content: "Well" },
      ],
    });
    expect(body.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "image_url", image_url: { url: "https://a.example/i.png" } },
        ],
      },
      {
        role: "assistant",
        reasoning: "Hm.",
        reasoning_content: "Hm.",
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "a", content: "Error: no" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "text", text: "Go on." },
        ],
      },
      { role: "assistant", content: "Well" },
    ]);
    expect(body).toMatchObject({ continue_final_message: true, add_generation_prompt: false });
  });

  it.each([
    [{ max_tokens: undefined }, "max_tokens", "`max_tokens` must be the most tokens that the answer may have."],
    [{ messages: [] }, "messages", "`messages` must be a list with at least one message."],
    [{ mcp_servers: [{ type: "url" }] }, "mcp_servers", "`mcp_servers` is not supported: engines have nothing like it."],
    [{ tools: [{ type: "web_search_20250305", name: "s" }] }, "tools.0.type", "is a web_search_20250305, which only Anthropic runs"],
    [{ tool_choice: { type: "some" } }, "tool_choice.type", "must be auto, any, tool or none"],
    [
      { messages: [{ role: "user", content: [{ type: "document", source: {} }] }] },
      "messages.0.content.0",
      "is a block of the type document, which engines cannot read",
    ],
    [
      { messages: [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "f" } }] }] },
      "messages.0.content.0.source",
      "must be of the type base64 or url",
    ],
    [
      {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "a" },
              { type: "tool_result", tool_use_id: "a" },
            ],
          },
        ],
      },
      "messages.0.content.1",
      "is a tool_result after other blocks",
    ],
    [{ messages: [{ role: "tool", content: "x" }] }, "messages.0.role", "must be user, assistant or system"],
  ])("is refused where %j cannot be carried", (body, param, message) => {
    expect(refusalOf(body)).toEqual({ param, message: expect.stringContaining(message) });
  });
});
