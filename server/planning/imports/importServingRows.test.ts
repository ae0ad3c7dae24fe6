import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { importServingRows } from "./importServingRows";

const cards = catalogueOf(noUserCards);
const HEADER = "model,gpu,engine,tp,isl,osl,concurrency,precision,ttft_ms,tpot_ms";
const GOOD = "llama-3.1-8b,h100-sxm,vllm,1,1000,200,8,bf16,50,7.5";

const run = (lines: readonly string[], header = HEADER, mostRows?: number) =>
  importServingRows({ name: "runs.csv", stream: Readable.from([[header, ...lines].join("\n")]) }, cards, mostRows);

async function accepted(lines: readonly string[], header = HEADER) {
  const imported = await run(lines, header);
  if (!imported.ok) throw new Error(imported.message);
  return imported;
}

test("a run becomes a row in seconds and ids of cards", async () => {
  const { rows, unsupported, bad } = await accepted([GOOD]);
  expect(rows).toMatchObject([
    {
      line: 2,
      engine: "vllm",
      model: "llama-3.1-8b",
      gpu: "h100-sxm",
      shape: { tp: 1, pp: 1 },
      inputTokens: 1000,
      outputTokens: 200,
      concurrency: 8,
      measured: { ttftSeconds: 0.05, tpotSeconds: 0.0075 },
    },
  ]);
  expect([unsupported, bad]).toEqual([[], []]);
});

test("a run need not have measured anything", async () => {
  const { rows } = await accepted([GOOD.replace(",50,7.5", ",,")]);
  expect(rows[0]?.measured).toEqual({ ttftSeconds: null, tpotSeconds: null });
});

test("rows at fault are named with file, line and field, and those around them are read", async () => {
  const { rows, bad } = await accepted([GOOD, GOOD.replace(",200,", ",many,"), `${GOOD},1`, GOOD]);
  expect(rows.map(({ line }) => line)).toEqual([2, 5]);
  expect(bad).toHaveLength(2);
  expect(bad[0]).toEqual({ line: 3, reason: 'osl must be a whole number from 1 to 4000000, found "many"' });
  expect(bad[1]).toMatchObject({ line: 4, reason: expect.stringMatching(/^found 11 fields where the header has 10/) });
});

test("a quote that is never closed costs the rows it swallows, not those before", async () => {
  const { rows, bad } = await accepted([GOOD, GOOD, `"${GOOD}`, GOOD]);
  expect(rows.map(({ line }) => line)).toEqual([2, 3]);
  expect(bad).toEqual([{ line: 4, reason: expect.stringMatching(/^a quote is opened and never closed/) }]);
});

test("a quote that swallows megabytes is told of once", async () => {
  const { rows, bad } = await accepted([GOOD, `"${GOOD}`, ...Array.from({ length: 50_000 }, () => GOOD)]);
  expect(rows.map(({ line }) => line)).toEqual([2]);
  expect(bad).toEqual([{ line: 3, reason: expect.stringMatching(/^the row goes on for over 1000000 characters/) }]);
});

test("text after a closing quote costs what follows, not the rows before", async () => {
  const { rows, bad } = await accepted([GOOD, `"llama"-3.1${GOOD}`, GOOD]);
  expect(rows.map(({ line }) => line)).toEqual([2]);
  expect(bad).toEqual([{ line: 3, reason: expect.stringMatching(/^text follows a closing quote.*what follows may be lost/) }]);
});

test("runs that no model covers are kept apart with the reason", async () => {
  const { rows, unsupported } = await accepted([GOOD.replace("llama-3.1-8b", "mystery-9b"), GOOD]);
  expect(rows).toHaveLength(1);
  expect(unsupported).toMatchObject([{ line: 2, reason: expect.stringContaining("mystery-9b") }]);
});

describe("a file is refused in one sentence", () => {
  test.each([
    ["without a column it needs", [GOOD], HEADER.replace("concurrency", "users"), /runs\.csv line 1: concurrency: no such column/],
    ["without rows", [], HEADER, /runs\.csv has a header line but no rows/],
    ["with more rows than may be", [GOOD, GOOD, GOOD, GOOD], HEADER, /runs\.csv line 5: the table goes on after 3 rows/],
  ])("%s", async (_, lines, header, expected) => {
    const read = await run(lines, header, 3);
    expect(read.ok ? "accepted" : read.message).toMatch(expected);
  });
});

const FILE = "../shared/data/engines/measured_serving.csv";

test("every published run is a row or has a reason", needs(file(FILE)), async () => {
  const read = await importServingRows({ name: "measured_serving.csv", stream: createReadStream(FILE) }, cards);
  if (!read.ok) throw new Error(read.message);
  expect(read.bad).toEqual([]);
  expect(read.rows.length + read.unsupported.length).toBe(358);
  expect(read.rows.length).toBeGreaterThan(300);
});
