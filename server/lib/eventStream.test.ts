import type { EventSourceMessage } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventStreamReader, eventsOf, eventText, isDone } from "./eventStream";

const lineText = fc.stringMatching(/^[a-z{}"é€😀: ]{0,12}$/u);
/** One line of an event: a field with or without the space, a comment, a field that no reader knows. */
const lineArb = fc.oneof(
  { weight: 4, arbitrary: fc.record({ field: fc.constantFrom("data", "event", "id"), space: fc.boolean(), value: lineText }) },
  fc.record({ field: fc.constantFrom("", "retries"), space: fc.boolean(), value: lineText }),
);
const eventArb = fc.array(lineArb, { maxLength: 5 });
const endArb = fc.constantFrom("\n", "\r\n", "\r");

type Line = { readonly field: string; readonly space: boolean; readonly value: string };

/** The meaning of an event's lines in the standard: one leading space does not belong to a value, and an event without data is dropped. */
function expectedOf(lines: readonly Line[]): readonly EventSourceMessage[] {
  const read = lines.map(({ field, space, value }) => ({ field, value: space ? value : value.replace(/^ /, "") }));
  const last = (name: string) => read.findLast(({ field }) => field === name)?.value;
  const data = read.filter(({ field }) => field === "data").map(({ value }) => value);
  return data.length === 0 ? [] : [{ id: last("id"), event: last("event") || undefined, data: data.join("\n") }];
}

/** Feeds `bytes` in pieces that end at `cuts`. */
function read(bytes: Buffer, cuts: readonly number[]): readonly EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  const reader = new EventStreamReader({ onEvent: (event) => events.push(event) });
  const ends = [...new Set([...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b);
  let from = 0;
  for (const to of ends) {
    reader.feed(bytes.subarray(from, to));
    from = to;
  }
  reader.end();
  return events;
}

describe("EventStreamReader", () => {
  it("reads what the standard says, whatever ends the lines, with or without the space, however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(eventArb, { maxLength: 6 }), endArb, fc.array(fc.nat(400)), (events, end, cuts) => {
        const text = events
          .map((lines) => lines.map(({ field, space, value }) => `${field}:${space ? " " : ""}${value}${end}`).join("") + end)
          .join("");
        const expected = events.flatMap(expectedOf);
        expect(read(Buffer.from(text), cuts)).toEqual(expected);
        expect(eventsOf(text)).toEqual(expected);
      }),
    );
  });

  it.each(["data: [DONE]\n\n", "data:[DONE]\n\n", "data:[DONE]\r\n\r\n", "data: [DONE]", "data:[DONE]\n", "data: [DONE] \r"])(
    "finds the end of a stream in %j",
    (text) => {
      expect(read(Buffer.from(text), []).map(isDone)).toEqual([true]);
    },
  );

  it("reports comments, which belong to no event", () => {
    const comments: string[] = [];
    const reader = new EventStreamReader({ onEvent: () => comments.push("event"), onComment: (comment) => comments.push(comment) });
    reader.feed(Buffer.from(": ping\n\n:pong\n\n"));
    expect(comments).toEqual(["ping", "pong"]);
  });

  it("stops at an event that is longer than the longest, and says so", () => {
    const events: EventSourceMessage[] = [];
    const reader = new EventStreamReader({ onEvent: (event) => events.push(event), longestEvent: 100 });
    reader.feed(Buffer.from(`data: a\n\ndata: ${"x".repeat(60)}`));
    expect(reader.overlong).toBe(false);
    reader.feed(Buffer.from("x".repeat(60)));
    expect(reader.overlong).toBe(true);
    reader.feed(Buffer.from("\n\ndata: b\n\n"));
    reader.end();
    expect(events.map(({ data }) => data)).toEqual(["a"]);
  });
});

it("writes events that are read as they were", () => {
  fc.assert(
    fc.property(fc.array(lineText, { minLength: 1 }), (lines) => {
      const data = lines.join("\n");
      expect(eventsOf(eventText(data))).toEqual([{ data }]);
    }),
  );
});
