import { createParser, type EventSourceMessage } from "eventsource-parser";
import fc from "fast-check";
import { expect, test } from "vitest";
import { WholeLines } from "./wholeLines";

test("every line is passed on once it has ended, however its bytes come, and what has not is what is left", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("\n", "\r\n", "data: é", "x"), { maxLength: 30 }), fc.array(fc.nat(60)), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(""));
      const lines = new WholeLines();
      const ends = [...new Set([...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b);
      let passed = Buffer.alloc(0);
      let from = 0;
      for (const to of ends) {
        passed = Buffer.concat([passed, lines.feed(bytes.subarray(from, to))]);
        expect(passed).toEqual(bytes.subarray(0, bytes.subarray(0, to).lastIndexOf("\n") + 1));
        from = to;
      }
      expect(Buffer.concat([passed, lines.rest])).toEqual(bytes);
    }),
  );
});

/**
 * Feeds bytes in pieces that end at `cuts`.
 * @returns after each piece, what was passed on and all bytes so far.
 */
function pieces(bytes: Buffer, cuts: readonly number[]): readonly { readonly passed: Buffer; readonly came: Buffer }[] {
  const lines = new WholeLines();
  const ends = [...new Set([...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b);
  let passed = Buffer.alloc(0);
  return ends.map((to, at) => {
    passed = Buffer.concat([passed, lines.feed(bytes.subarray(ends[at - 1] ?? 0, to))]);
    expect(Buffer.concat([passed, lines.rest])).toEqual(bytes.subarray(0, to));
    return { passed, came: bytes.subarray(0, to) };
  });
}

/** Complete events. The next line is started, because that parser waits for what follows a CR. */
function eventsIn(bytes: Buffer): readonly EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(`${bytes}:`);
  return events;
}

test("no event that has come is held back where the parser of a client would tell of it, and no line is passed on in part, whether lines end in LF, CRLF or CR", () => {
  const ends = fc.constantFrom("\n", "\r\n", "\r");
  const texts = fc.array(fc.constantFrom("data: a", "data:b", "event: c", ": d", ""), { maxLength: 20 });
  fc.assert(
    fc.property(texts, ends, fc.array(fc.nat(120)), (lines, end, cuts) => {
      for (const { passed, came } of pieces(Buffer.from(lines.map((line) => line + end).join("")), cuts)) {
        // Half of a CRLF ends nothing yet.
        const whole = end === "\r\n" && came.at(-1) === 0x0d ? came.subarray(0, -1) : came;
        expect(eventsIn(passed)).toEqual(eventsIn(whole));
        expect(passed.length === 0 || /[\r\n]$/.test(passed.toString("utf8"))).toBe(true);
      }
    }),
  );
});

test("an event whose lines end in CR is passed on with its last byte, a CR that may be half of a CRLF with the next", () => {
  expect(pieces(Buffer.from("data: a\r\rdata: b\r\r"), [8, 9, 17, 18]).map(({ passed }) => passed.length)).toEqual([0, 9, 17, 18]);
  expect(pieces(Buffer.from("data: a\r\n\r\n"), [8, 9, 10]).map(({ passed }) => passed.length)).toEqual([0, 9, 9, 11]);
});
