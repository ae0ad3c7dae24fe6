import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { importArrivals } from "./importArrivals";

const run = (times: readonly string[], header = "TIMESTAMP,ContextTokens,GeneratedTokens") =>
  importArrivals({ name: "trace.csv", stream: Readable.from([[header, ...times.map((time) => `${time},10,20`)].join("\n")]) });

test("times become seconds since the first, to the last of seven digits", async () => {
  const imported = await run(["2023-11-16 23:59:59.9999999", "2023-11-17 00:00:00.0000001", "2023-11-17 00:00:01.5"]);
  if (!imported.ok) throw new Error(imported.message);
  expect([...imported.arrivalSeconds].map((seconds) => Math.round(seconds * 1e7))).toEqual([0, 2, 15_000_001]);
  expect(imported.origin).toBe("trace.csv: 3 arrivals in 2 s, 1.33 requests/s as recorded");
});

test("ISO times, offsets and a file of times alone are understood", async () => {
  const imported = await importArrivals({
    name: "trace.csv",
    stream: Readable.from(["TIMESTAMP\n2024-05-10T00:00:00Z\n2024-05-10T02:00:01+02:00\n2024-05-09 22:00:03.25-0200\n"]),
  });
  expect(imported.ok && [...imported.arrivalSeconds]).toEqual([0, 1, 3.25]);
});

describe("bad traces are refused with file, line, field and the way out:", () => {
  const good = "2023-11-16 18:15:46.6805900";
  test.each([
    [
      "a time that is none",
      [good, "yesterday"],
      "trace.csv line 3: TIMESTAMP is 'yesterday'; write times like 2023-11-16 18:15:46.6805900",
    ],
    ["a day that does not exist", ["2023-02-30 10:00:00"], "trace.csv line 2: TIMESTAMP is '2023-02-30 10:00:00'; write times like"],
    ["an empty time", [good, ""], "trace.csv line 3: TIMESTAMP is ''; write times like"],
    [
      "time going backwards",
      [good, "2023-11-16 18:15:46.5"],
      "trace.csv line 3: TIMESTAMP '2023-11-16 18:15:46.5' is earlier than the row before it; sort",
    ],
    ["a single arrival", [good], "trace.csv: TIMESTAMP has one arrival; a trace needs at least 2"],
    ["arrivals all at once", [good, good], "trace.csv: TIMESTAMP is the same in all rows; a trace must span some time"],
    ["no rows", [], "trace.csv has a header line but no rows; add some"],
  ])("%s", async (_, times, message) => {
    expect(await run(times)).toEqual({ ok: false, message: expect.stringContaining(message) });
  });

  test("an error that many rows share is said once, with their count and the first lines", async () => {
    expect(await run([good, "soon", "soon", good, "later", "soon", "soon"])).toEqual({
      ok: false,
      message: "trace.csv, 4 rows (lines 3, 4, 7 …): TIMESTAMP is 'soon'; write times like 2023-11-16 18:15:46.6805900",
    });
  });

  test("a file of any size is refused after ten thousand further lines, with the least number of rows at fault", async () => {
    expect(await run([good, ...Array.from({ length: 50_000 }, () => "soon")])).toEqual({
      ok: false,
      message: expect.stringMatching(/^trace\.csv, at least 10001 rows \(lines 3, 4, 5 …\): TIMESTAMP is 'soon'/),
    });
  });

  test("a missing column", async () => {
    expect(await run([good], "time,a,b")).toEqual({
      ok: false,
      message: "trace.csv line 1: TIMESTAMP: no such column among 'time', 'a', 'b'; name the column of arrival times TIMESTAMP",
    });
  });
});

const PUBLISHED = fileURLToPath(new URL("../../../../shared/data/traces/AzureLLMInferenceTrace_conv.csv", import.meta.url));

test("the published conversation trace has its known rate", needs(file(PUBLISHED)), async () => {
  const imported = await importArrivals({ name: "conv.csv", stream: createReadStream(PUBLISHED) });
  if (!imported.ok) throw new Error(imported.message);
  const { arrivalSeconds } = imported;
  expect(arrivalSeconds.length).toBe(19_366);
  expect((arrivalSeconds.length - 1) / (arrivalSeconds.at(-1) ?? 0)).toBeCloseTo(5.53, 2);
});
