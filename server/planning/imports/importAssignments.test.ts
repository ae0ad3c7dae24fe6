import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { importAssignments } from "./importAssignments";

const read = (text: string, pieces = 1000) => {
  const chunks = Array.from({ length: Math.ceil(text.length / pieces) }, (_, at) =>
    Buffer.from(text.slice(at * pieces, (at + 1) * pieces)),
  );
  return importAssignments({ name: "who.txt", stream: Readable.from(chunks) });
};

test("a row for each expert and a line for each question say the same, however the file is cut", async () => {
  const expected = new Map([
    ["q2", ["b", "a"]],
    ["q1", ["c"]],
  ]);
  const csv = "\ufeffexpert,note,id\r\nb,,q2\r\nc,,q1\r\na,,q2\r\n";
  const lines = '\ufeff\n  {"id": "q2", "experts": ["b", "a"]}\n\n{"id": "q1", "experts": ["c"]}';
  for (const pieces of [1, 3, 1000]) expect([await read(csv, pieces), await read(lines, pieces)]).toEqual([expected, expected]);
});

test.each<[string, string]>([
  ["", "who.txt is empty; it needs a header line and rows"],
  [
    "id,model\nq,a",
    "who.txt line 1: id, expert: no such columns among 'id', 'model'; name them so, with a row for each expert of a question",
  ],
  ["id,expert\nq,a\nq,a", "who.txt line 3: expert 'a' is named twice for 'q'; keep it once"],
  ["id,expert\n,a", "who.txt line 2: id is empty; fill it in"],
  ["id,expert\nq,", "who.txt line 2: expert is empty; fill it in"],
  ['{"id": "q", "experts": ["a"]}\n{"id": "q", "experts": ["b"]}', "who.txt line 2: id 'q' has a line before; keep one"],
  ['{"id": "q", "experts": []}', "who.txt line 1: experts: name at least one expert"],
  ['{"id": "q"', 'who.txt line 1: this is not JSON: \'{"id": "q"\''],
  [
    `{"id": "q", "experts": ${JSON.stringify(Array.from({ length: 17 }, (_, at) => `m${at}`))}}`,
    "who.txt line 1: 'q' has more than 16 experts; leave some out",
  ],
])("%j is refused in a sentence", async (text, message) => {
  expect(await read(text)).toBe(message);
});

test.each([
  ["a line", '{"id": "q"}\n', '{"id": "other", "experts": ["a"]}\n'],
  ["a row", "id,expert\nq,\n", "q,a\n"],
  ["a header", "id,model\n", "q,a\n"],
])("a file that is refused for %s is read no further and closed", async (_, begin, more) => {
  let pieces = 0;
  const stream = Readable.from(
    (function* () {
      yield Buffer.from(begin);
      for (; pieces < 1000; pieces += 1) yield Buffer.from(more.repeat(1000));
    })(),
  );
  expect(await importAssignments({ name: "who.txt", stream })).toMatch(/^who\.txt line \d: /);
  await vi.waitUntil(() => stream.destroyed);
  expect(pieces).toBeLessThan(1000);
});

test("whatever a file holds, it is read or refused and nothing is thrown", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ maxLength: 60 }),
        fc.json().map((json) => `{"id": ${json}}`),
        fc.string({ maxLength: 20 }).map((rest) => `id,expert\n${rest}`),
      ),
      async (text) => {
        const assignments = await read(text, 7);
        expect(typeof assignments === "string" || assignments instanceof Map).toBe(true);
      },
    ),
  );
});
