import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventsOf } from "@/server/lib/eventStream";
import { isRecord } from "@/solver/collections/isRecord";
import { completionEvents } from "../http/completionEvents";
import type { AnswerEvents } from "./dialect";
import { messageJson } from "./messagesAnswer";
import { MessagesEvents } from "./messagesEvents";
import { ResponsesExchange } from "./responsesDialect";
import { TranslatedStream } from "./translatedStream";

const context = { answerId: "0".repeat(32), requestId: "r", nowSeconds: 1 };
const writers: readonly (readonly [string, () => AnswerEvents])[] = [
  ["Messages", () => new MessagesEvents(context, { showsThinking: true })],
  ["Responses", () => new ResponsesExchange(null, () => null).events(context)],
];

interface Answer {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: Record<string, unknown>;
    readonly number: bigint;
  }[];
}

const answer: fc.Arbitrary<Answer> = fc.record({
  reasoning: fc.string(),
  text: fc.string({ unit: "grapheme" }),
  calls: fc.array(
    fc.record({
      id: fc.uuid(),
      name: fc.string({ minLength: 1 }),
      input: fc.dictionary(fc.string({ minLength: 1 }), fc.string()),
      number: fc.bigInt(),
    }),
    {
      maxLength: 3,
    },
  ),
});

/** Arguments with a number that JavaScript cannot hold. */
const argumentsOf = ({ input, number }: Answer["calls"][number]): string => `{"n": ${number}, "input": ${JSON.stringify(input)}}`;

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** The engine's stream of an answer, a few characters in each chunk. */
function streamOf({ reasoning, text, calls }: Answer): string {
  const pieces = (all: string): string[] => all.match(/[\s\S]{1,5}/gu) ?? [];
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces(reasoning).map((piece) => chunk({ reasoning: piece })),
    ...pieces(text).map((piece) => chunk({ content: piece })),
    ...calls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }),
      ...pieces(argumentsOf(call)).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage })}\n\n`,
    "data: [DONE]\n\n",
  ].join("");
}

/** The completion of an answer, as an engine gives it whole. */
const completionOf = ({ reasoning, text, calls }: Answer) => ({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: text,
        reasoning,
        tool_calls: calls.map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: argumentsOf(call) } })),
      },
      finish_reason: calls.length > 0 ? "tool_calls" : "stop",
    },
  ],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
});

function translated(events: AnswerEvents, pieces: readonly Uint8Array[]): string {
  const stream = new TranslatedStream(events);
  return [...pieces.map((piece) => stream.feed(piece)), stream.close()].join("");
}

const dataOf = (text: string): Record<string, unknown>[] =>
  eventsOf(text).map(({ event, data }) => {
    const document = JSON.parse(data) as Record<string, unknown>;
    expect(event).toBe(document.type);
    return document;
  });

/** The blocks that a client reads of a stream of the Messages API, and the reason of its end. */
function blocksOf(text: string) {
  const blocks: Record<string, unknown>[] = [];
  let open: number | null = null;
  let stop: unknown;
  for (const event of dataOf(text)) {
    if (event.type === "content_block_start") {
      expect([open, event.index]).toEqual([null, blocks.length]);
      open = blocks.length;
      const { input: _, ...block } = event.content_block as Record<string, unknown>;
      blocks.push({ ...block, text: "" });
    } else if (event.type === "content_block_delta") {
      expect(event.index).toBe(open);
      const { type: _, ...delta } = event.delta as Record<string, string>;
      const block = blocks.at(-1) ?? {};
      block.text = String(block.text) + Object.values(delta).join("");
    } else if (event.type === "content_block_stop") open = null;
    else if (event.type === "message_delta") stop = event;
  }
  expect(open).toBeNull();
  return { blocks: blocks.map(({ type, id, name, text: said }) => ({ type, id, name, text: said })), stop };
}

const blocks = ({ reasoning, text, calls }: Answer) => [
  ...(reasoning === "" ? [] : [{ type: "thinking", id: undefined, name: undefined, text: reasoning }]),
  ...(text === "" ? [] : [{ type: "text", id: undefined, name: undefined, text }]),
  ...calls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, text: argumentsOf(call) })),
];

describe.each(writers)("a stream translated to %s", (_, begin) => {
  it("has the same events wherever its bytes are cut", () => {
    fc.assert(
      fc.property(answer, fc.array(fc.nat()), (said, cuts) => {
        const bytes = Buffer.from(streamOf(said));
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
        const pieces = [0, ...places].map((from, index) => bytes.subarray(from, places[index]));
        expect(translated(begin(), pieces)).toBe(translated(begin(), [bytes]));
      }),
    );
  });

  it("says an error once where the engine fails, and nothing after it", () => {
    const error = { message: "The engine failed.", type: "server_error", param: null, code: "engine_failed" };
    const text = `${chunk({ content: "a" })}data: ${JSON.stringify({ error })}\n\n${chunk({ content: "b" })}data: [DONE]\n\n`;
    const events = dataOf(translated(begin(), [Buffer.from(text)]));
    expect(events.filter(({ type }) => type === "error")).toHaveLength(1);
    expect(JSON.stringify(events.at(-1))).toContain("The engine failed.");
    expect(JSON.stringify(events)).not.toContain('"b"');
  });

  it("is an error where it ends without its end", () => {
    const events = dataOf(translated(begin(), [Buffer.from(chunk({ content: "a" }))]));
    expect(JSON.stringify(events.at(-1))).toContain("The stream ended before the answer was complete.");
  });

  it("is an error where an engine mixes the arguments of calls: a client would run one with half of them", () => {
    const call = (index: number, text: string) =>
      chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: "f", arguments: text } }] });
    const later = [0, 2].map((index) => ({ index, id: `c${index}`, function: { name: "f", arguments: "}" } }));
    const text = `${call(0, "{")}${call(1, "{}")}${chunk({ tool_calls: later })}: keep-alive\n\n${call(3, "{}")}data: [DONE]\n\n`;
    const written = translated(begin(), [Buffer.from(text)]);
    expect(written).not.toContain("keep-alive");
    const events = dataOf(written);
    const error = events.findIndex(({ type }) => type === "error");
    expect(JSON.stringify(events[error])).toContain("mixed the arguments");
    expect(events.slice(error + 1).filter(({ type }) => type !== "response.failed")).toEqual([]);
  });
});

describe("a stream of the Messages API", () => {
  it("has the texts, ids, names and arguments of the engine's, and its tokens", () => {
    fc.assert(
      fc.property(answer, (said) => {
        const stream = translated(new MessagesEvents(context, { showsThinking: true }), [Buffer.from(streamOf(said))]);
        const { blocks: read, stop } = blocksOf(stream);
        expect(read).toEqual(blocks(said));
        const reason = said.calls.length > 0 ? "tool_use" : "end_turn";
        expect(stop).toMatchObject({ delta: { stop_reason: reason, stop_sequence: null }, usage: { input_tokens: 7, output_tokens: 3 } });
      }),
    );
  });

  it("is the same where the answer was whole before it was streamed", () => {
    fc.assert(
      fc.property(answer, (said) => {
        const whole = completionEvents(completionOf(said), { includeUsage: true });
        const write = (text: string) => blocksOf(translated(new MessagesEvents(context, { showsThinking: true }), [Buffer.from(text)]));
        expect(write(whole)).toEqual(write(streamOf(said)));
      }),
    );
  });

  it("hides what the model thinks where the client did not ask for it", () => {
    const text = streamOf({ reasoning: "Hm.", text: "Yes.", calls: [] });
    const { blocks: read } = blocksOf(translated(new MessagesEvents(context, { showsThinking: false }), [Buffer.from(text)]));
    expect(read.map(({ type }) => type)).toEqual(["text"]);
  });
});

describe("a whole message of the Messages API", () => {
  it("has the texts, ids, names and arguments of the engine's, digit by digit", () => {
    fc.assert(
      fc.property(answer, (said) => {
        const whole = messageJson(completionOf(said), context, { showsThinking: true });
        if (!("json" in whole)) throw new Error(whole.message);
        const message = JSON.parse(whole.json) as { content: Record<string, unknown>[] };
        const read = message.content.map(({ type, id, name, text, thinking }) => ({ type, id, name, text: text ?? thinking }));
        expect(read).toEqual(blocks(said).map((block) => (block.type === "tool_use" ? { ...block, text: undefined } : block)));
        for (const call of said.calls) expect(whole.json).toContain(`"input":${argumentsOf(call)}`);
      }),
    );
  });

  it.each([
    ["stop", null, "end_turn"],
    ["stop", "END", "stop_sequence"],
    ["length", null, "max_tokens"],
    ["content_filter", null, "refusal"],
  ])("that the engine ended with %s, by the stop sequence %s, has the reason %s", (finish_reason, stop_reason, reason) => {
    const choices = [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason, stop_reason }];
    const whole = messageJson({ model: "m", choices }, context, { showsThinking: false });
    expect(JSON.parse("json" in whole ? whole.json : "")).toMatchObject({ stop_reason: reason, stop_sequence: stop_reason });
  });

  it.each(['{"path": "a", "text": "half', "", " ", "{}"])("that max_tokens cut has no call with the arguments it cut: %j", (text) => {
    const call = (id: string, args: string) => ({ id, type: "function", function: { name: "f", arguments: args } });
    const cut = (tool_calls: readonly object[]) => {
      const completion = { model: "m", choices: [{ message: { content: null, tool_calls }, finish_reason: "length" }] };
      const whole = messageJson(completion, context, { showsThinking: false });
      return JSON.parse("json" in whole ? whole.json : "null");
    };
    expect(cut([call("b", text)])).toMatchObject({ content: [], stop_reason: "max_tokens" });
    expect(cut([call("a", '{"n": 1}'), call("b", text)])).toMatchObject({
      content: [{ type: "tool_use", id: "a", name: "f", input: { n: 1 } }],
      stop_reason: "max_tokens",
    });
  });

  it.each(["[1]", '{"a": ', "none"])("does not hold arguments that are no object: %s", (text) => {
    const tool_calls = [{ id: "a", type: "function", function: { name: "f", arguments: text } }];
    const whole = messageJson({ choices: [{ message: { tool_calls }, finish_reason: "tool_calls" }] }, context, { showsThinking: false });
    expect(whole).toMatchObject({ status: 502, message: expect.stringContaining("arguments for the tool f are not a JSON object") });
  });
});

describe("a stream of the Responses API", () => {
  it("ends with the response that is given whole, each event numbered", () => {
    fc.assert(
      fc.property(answer, (said) => {
        const exchange = new ResponsesExchange(null, () => null);
        const events = dataOf(translated(exchange.events(context), [Buffer.from(streamOf(said))]));
        expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
        const { response } = events.at(-1) ?? {};
        expect(response).toEqual(JSON.parse(exchange.answer(completionOf(said), context).json));
        const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
        expect(done).toEqual(isRecord(response) ? response.output : null);
        const texts = (type: string) =>
          events
            .filter((event) => event.type === type)
            .map(({ delta }) => String(delta))
            .join("");
        expect(texts("response.output_text.delta")).toBe(said.text);
        expect(texts("response.function_call_arguments.delta")).toBe(said.calls.map(argumentsOf).join(""));
      }),
    );
  });
});
