import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { type Ended, weirIn } from "../testing/testWeir";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "weir-reproduce-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

/** The command line where the checkout is another folder. */
const weirAt = (checkout: string, ...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, "dist", "weir.mjs"), ...args],
      { env: { ...process.env, WEIR_ROOT: checkout } },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });

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
  const unknown = await weir("reproduce", "kairos", "--figure", "9,99");
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringMatching(/^--figure: kairos has no figure 99 here; there are table 1, 9, 14, 15, 16, /m),
  ]);
  expect((await weir("reproduce", "routellm")).code).toBe(2);
});

test("missing data, and a place without the benchmarks, are named in a sentence", async () => {
  const checkout = join(folder, "elsewhere", "weir");
  mkdirSync(checkout, { recursive: true });
  const without = await weirAt(checkout, "reproduce", "kairos");
  expect([without.code, without.stderr]).toEqual([2, expect.stringMatching(/^The benchmarks are not here: run .* in a checkout/)]);
  for (const part of ["dist", "bench"]) symlinkSync(join(root, part), join(checkout, part));
  const missing = await weirAt(checkout, "reproduce", "kairos", "--figure", "15");
  expect(missing.code).toBe(2);
  expect(missing.stderr).toMatch(/Missing: \.\.\/shared\/data\/quality\/cascade_outcomes\.csv \(answers of .*\), from .*ZeroEval/);
  expect(missing.stdout).toMatch(/15: co-located, 8B, mean latency under Parrot's +data missing +45\.1 to 72\.8 % less +\[1\]/);
});
