import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonExcess, type JsonLimits, JsonScan } from "./jsonScan";

const unlimited: JsonLimits = { depth: Number.POSITIVE_INFINITY, nodes: Number.POSITIVE_INFINITY, commas: Number.POSITIVE_INFINITY };

/** The first limit that a text exceeds if its bytes arrive in pieces of the given size. */
function excessOf(text: string, limits: Partial<JsonLimits>, piece = 65_536): JsonExcess | null {
  const scan = new JsonScan({ ...unlimited, ...limits });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) {
    const excess = scan.push(bytes.subarray(at, at + piece));
    if (excess !== null) return excess;
  }
  return null;
}

const isBranch = (value: unknown): value is object => typeof value === "object" && value !== null;
const depthOf = (value: unknown): number => (isBranch(value) ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0);
function nodesOf(value: unknown): number {
  if (typeof value === "string") return 1;
  if (!isBranch(value)) return 0;
  const names = Array.isArray(value) ? 0 : Object.keys(value).length;
  return 1 + names + Object.values(value).reduce((sum: number, one) => sum + nodesOf(one), 0);
}
const commasOf = (value: unknown): number =>
  isBranch(value)
    ? Math.max(0, Object.keys(value).length - 1) + Object.values(value).reduce((sum: number, one) => sum + commasOf(one), 0)
    : 0;

/** Texts full of the characters that could mislead a scanner. */
const hostileText = fc.string({ unit: fc.constantFrom('"', "\\", "[", "{", "]", "}", ",", ":", "é", "漢", "\n", "a"), maxLength: 20 });
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 6 }, hostileText, fc.double(), fc.boolean(), fc.constant(null), tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  object: fc.dictionary(hostileText, tie("value"), { maxKeys: 4 }),
})).value;

describe("a scan of JSON", () => {
  it("counts what a parser finds, however the bytes are cut", () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 40 }), (value, piece) => {
        const text = JSON.stringify(value);
        const parsed: unknown = JSON.parse(text);
        for (const [limit, count] of [
          ["depth", depthOf(parsed)],
          ["nodes", nodesOf(parsed)],
          ["commas", commasOf(parsed)],
        ] as const) {
          expect(excessOf(text, { [limit]: count }, piece)).toBeNull();
          if (count > 0) expect(excessOf(text, { [limit]: count - 1 }, piece)).toBe(limit);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("ends at the bracket that is one too deep", () => {
    const scan = new JsonScan({ ...unlimited, depth: 128 });
    expect(scan.push(Buffer.from("[".repeat(128)))).toBeNull();
    expect(scan.push(Buffer.from("{"))).toBe("depth");
  });

  it("takes less time than the parser it protects", () => {
    const bytes = Buffer.from(`[${"[],".repeat(500_000)}1]`);
    const millisecondsOf = (work: () => unknown): number => {
      const startMs = performance.now();
      work();
      return performance.now() - startMs;
    };
    const scanned = Math.min(...[1, 2, 3].map(() => millisecondsOf(() => new JsonScan(unlimited).push(bytes))));
    const parsed = Math.min(...[1, 2, 3].map(() => millisecondsOf(() => JSON.parse(bytes.toString()))));
    expect(scanned).toBeLessThan(parsed / 2);
  });
});
