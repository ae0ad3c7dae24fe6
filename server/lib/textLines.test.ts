import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type TextLine, textLines } from "./textLines";

async function linesOf(bytes: Buffer, cuts: readonly number[]): Promise<readonly TextLine[]> {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  async function* chunks() {
    // A chunk's memory may be used again by who reads the file.
    for (const [at, from] of places.slice(0, -1).entries()) yield Buffer.from(bytes.subarray(from, places[at + 1]));
  }
  const all: TextLine[] = [];
  for await (const some of textLines(chunks())) all.push(...some);
  return all;
}

test("lines are the same however the file is cut, and those of a split by hand", async () => {
  const text = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("\n", "\r\n", "", "ü€😀")), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 12 }), async (parts, cuts) => {
      const whole = parts.join("").replaceAll("\0", "");
      const expected = whole.split("\n").flatMap((line, at) => (line.trim() === "" ? [] : [{ line: at + 1, text: line.trim() }]));
      expect(await linesOf(Buffer.from(whole), cuts)).toEqual(expected);
    }),
  );
});

test("bytes of any kind are lines or problems, each told once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(), { maxLength: 5 }), async (bytes, cuts) => {
      const lines = (await linesOf(Buffer.from(bytes), cuts)).map(({ line }) => line);
      expect(lines).toEqual([...new Set(lines)].sort((a, b) => a - b));
    }),
  );
});
