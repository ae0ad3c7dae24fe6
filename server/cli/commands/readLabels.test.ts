import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readLabels } from "./readLabels";

const folder = mkdtempSync(join(tmpdir(), "weir-labels-"));
afterAll(() => rmSync(folder, { recursive: true }));

const read = (text: string) => {
  const path = join(folder, "labels.csv");
  writeFileSync(path, text);
  return readLabels(path);
};

it("reads labels of answers, in any order of columns, with their lines, and the stage where one is named", async () => {
  expect(await read("quality,decision_id,model,note\n100,d1,,ok\n0, d2 ,small,\n")).toEqual({
    ok: true,
    labels: [
      { decisionId: "d1", quality: 100, line: 2 },
      { decisionId: "d2", quality: 0, model: "small", line: 3 },
    ],
  });
  expect(await read("decision_id,quality\nd1,50.5\n")).toEqual({ ok: true, labels: [{ decisionId: "d1", quality: 50.5, line: 2 }] });
});

it.each([
  ["a missing column", "decision_id,label\nd1,1\n", "the column quality is missing"],
  ["no quality", "decision_id,quality\nd1,100\nd2,\n", "line 3: quality must be a number from 0 to 100"],
  ["a quality out of bounds", "decision_id,quality\nd1,101\n", "line 2: quality must be a number from 0 to 100"],
  ["no id", "decision_id,quality\n,100\n", "line 2: decision_id is empty"],
  ["too many labels", `decision_id,quality\n${"d,1\n".repeat(1001)}`, "a file has at most 1000 labels"],
  ["no labels", "decision_id,quality\n", "has a header line but no rows"],
])("refuses a file with %s in one sentence", async (_, text, sentence) => {
  expect(await read(text)).toEqual({ ok: false, message: expect.stringContaining(sentence) });
});

it("refuses a file that is not there", async () => {
  expect(await readLabels(join(folder, "none.csv"))).toEqual({ ok: false, message: expect.stringMatching(/^There is no file/) });
});
