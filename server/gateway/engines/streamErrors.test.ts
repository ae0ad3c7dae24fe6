import * as fc from "fast-check";
import { expect, test } from "vitest";
import { endsInData, withOpenEvent } from "./streamErrors";

const line = fc.constantFrom("data: x", "event: error", ": ping", "id: 7", "");
const lines = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")).map(([text, end]) => text + end));

test("whether data of an event is open does not depend on the chunks in which its lines came", () => {
  fc.assert(
    fc.property(fc.array(lines), (chunks) => {
      const sent = chunks.map((own) => Buffer.from(own.join(""))).filter(({ length }) => length > 0);
      const last = sent.reduce(withOpenEvent, Buffer.alloc(0));
      expect(endsInData(last)).toBe(endsInData(Buffer.concat(sent)));
    }),
  );
});

test("an event with data is open until its empty line, whatever lines follow the data", () => {
  const open = (...chunks: readonly string[]): boolean =>
    endsInData(chunks.map((text) => Buffer.from(text)).reduce(withOpenEvent, Buffer.alloc(0)));
  expect(open("data: x\n", ": ping\n")).toBe(true);
  expect(open("data: x\n", "id: 7\n", "\n")).toBe(false);
  expect(open("data: x\n\n", "event: error\n")).toBe(false);
});
