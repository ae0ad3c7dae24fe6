import fc from "fast-check";
import { expect, it } from "vitest";
import { chainHash, genesisPrevious, type UnchainedRecord } from "./auditChain";
import { exportLines, readExportedLine } from "./exportLines";
import type { LinkedRecord } from "./verifyChain";

const record = (detail: string): LinkedRecord => {
  const line: UnchainedRecord = {
    ...{ id: 1, at: "2026-01-01T00:00:00.000Z", actor: "ann", action: "approve", subject: "p", detail },
    ...{ outcome: "done", objectKind: null, objectId: null, clusterId: null, role: null, address: null, times: 1 },
  };
  return { ...line, previous: genesisPrevious, hash: chainHash(genesisPrevious, line) };
};

/** Cells of a CSV text by RFC 4180. */
const cells = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"]|"")*)"(?:,|\r\n)/g)].map(([, cell = ""]) => cell.replaceAll('""', '"'));

const hostile = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.tuple(fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", '"', ",", ";"), fc.string()).map((parts) => parts.join("")),
);

it("lets no cell of a CSV begin as a formula does, and keeps the text", () => {
  fc.assert(
    fc.property(hostile, (detail) => {
      const [, row = ""] = [...exportLines([record(detail)], "csv")];
      const cell = cells(row)[5];
      expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
      expect(cell?.replace(/^'(?=[=+\-@\t\r\n'＝＋－＠])/, "")).toBe(detail);
      expect(cells(row)).toHaveLength(15);
    }),
    { numRuns: 1000 },
  );
});

it("reads back every line that it wrote as JSON, and nothing else", () => {
  fc.assert(
    fc.property(hostile, (detail) => {
      const [text = ""] = [...exportLines([record(detail)], "jsonl")];
      expect(readExportedLine(text)).toEqual(record(detail));
    }),
  );
  for (const text of ["", "null", "{}", JSON.stringify({ ...record("x"), outcome: "perhaps" })]) expect(readExportedLine(text)).toBeNull();
});
