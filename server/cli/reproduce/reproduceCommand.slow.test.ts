import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { weirIn } from "../testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-reproduce-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

test("a figure is measured again by its benchmark and written beside the source's", async () => {
  const page = join(folder, "figure.md");
  const { code, stdout, stderr } = await weir("reproduce", "aragog", "--figure", "Figure 10", "--out", page);
  expect({ code, progress: stderr.includes("Measuring: rounds, utilisation beside exhaustive\n") }).toEqual({ code: 0, progress: true });
  expect(stdout).toMatch(
    /10: beam search: utilisation less than by brute force +[\d.]+ % less than trying every assignment gains +no number +\[1\]/,
  );
  expect(readFileSync(page, "utf8")).toContain("# aragog: ours beside the source's\n");
});

test("what nothing measures says why, and unknown systems and figures are refused", async () => {
  const out = join(folder, "table.json");
  const survey = await weir("reproduce", "kairos", "--figure", "table 1", "--out", out);
  expect([survey.code, JSON.parse(readFileSync(out, "utf8")).rows]).toEqual([
    0,
    [expect.objectContaining({ ours: { kind: "not-measured" }, difference: "It is a survey of repositories." })],
  ]);
  const unknown = await weir("reproduce", "kairos", "--figure", "99");
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringMatching(/^--figure: kairos has no figure 99 here; there are table 1, 9, 14, /),
  ]);
  expect((await weir("reproduce", "routellm")).code).toBe(2);
});
