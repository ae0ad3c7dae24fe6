import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type CsvRow, cellsOf, csvRows } from "./csvRows";

async function rowsOf(text: string, cuts: readonly number[] = []): Promise<readonly CsvRow[]> {
  const bytes = Buffer.from(text);
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  async function* chunks(): AsyncGenerator<Buffer> {
    for (const [at, edge] of edges.entries()) yield bytes.subarray(edge, edges[at + 1]);
  }
  const all: CsvRow[] = [];
  for await (const rows of csvRows(chunks())) all.push(...rows);
  return all;
}

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
const cell = fc.string({ unit: fc.constantFrom("a", "é", " ", ",", '"', "\n", "\t"), maxLength: 12 });
const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 12 });

test("every table is read as it was written, however it is cut and whichever way its lines end", async () => {
  await fc.assert(
    fc.asyncProperty(table, fc.array(fc.nat(), { maxLength: 8 }), fc.constantFrom("\n", "\r\n"), async (rows, cuts, end) => {
      const read = await rowsOf(rows.map((row) => row.map(quoted).join(",")).join(end), cuts);
      expect(read.map((row) => ("cells" in row ? row.cells : row.problem))).toEqual(rows);
    }),
  );
});

test("cells without quotes are taken as they stand, and each row by the line that it begins on", async () => {
  expect(await rowsOf('a, b ,\n\n"c\n\n  d",e,f\ng,,"h"\n')).toEqual([
    { line: 1, cells: ["a", " b ", ""] },
    { line: 3, cells: ["c\n\n  d", "e", "f"] },
    { line: 6, cells: ["g", "", "h"] },
  ]);
});

test("rows that cannot be read cost the lines they begin on, and no row behind them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('"x"y,z', '"open,z', 'x"y,z', "good,1", '"good, too",2'), { maxLength: 30 }),
      async (lines) => {
        // A quote that is open is closed by the next one, and where text follows that, it was none.
        const read = await rowsOf([...lines, '"last",3'].join("\n"));
        expect(read.map(({ line }) => line)).toEqual([...lines, ""].map((_, at) => at + 1));
        read.forEach((row, at) => {
          expect("cells" in row).toBe(at === lines.length || (lines[at] ?? "").includes("good"));
        });
      },
    ),
  );
});

test("a quote that is open at the end, or for over 8 MB, costs its line", async () => {
  const problem = expect.stringContaining("never closed");
  expect(await rowsOf('a,b\n"c,d\ne,f')).toEqual([
    { line: 1, cells: ["a", "b"] },
    { line: 2, problem },
    { line: 3, cells: ["e", "f"] },
  ]);
  const long = await rowsOf(`"c,d\n${`${"e".repeat(1000)},f\n`.repeat(20_000)}`);
  expect(long).toHaveLength(20_001);
  expect(long[0]).toEqual({ line: 1, problem });
});

test("a line that is not one row has no cells", () => {
  expect(cellsOf('a,"b, c"')).toEqual(["a", "b, c"]);
  expect(cellsOf('a,"b')).toBeNull();
  expect(cellsOf('a"')).toBeNull();
});
