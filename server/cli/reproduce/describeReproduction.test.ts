import { describe, expect, it } from "vitest";
import { describeReproduction, missingText, reproductionPage } from "./describeReproduction";
import type { OwnFigure, Reproduction } from "./reproduction";

const sourceOf = (what: string, value: number | null) => ({ figure: "5", what, value, unit: "times", section: "4.2" });
const measured: OwnFigure = {
  ...{ kind: "measured", value: 1.2345, unit: "x", interval: { low: 1.1, high: 1.4 }, seeds: 3 },
  ...{ benchmark: "the race", detail: "three ladders | two loads" },
};
const file = "data/outcomes.csv";
const reproduction: Reproduction = {
  system: "chimera",
  machine: "a machine",
  data: [{ file, what: "answers", from: "a repository", present: false }],
  rows: [
    { source: sourceOf("speed-up", 3.4), ours: measured, difference: "Other GPUs." },
    { source: sourceOf("frontier", null), ours: { kind: "not-measured" }, difference: "Other GPUs." },
    { source: sourceOf("score", 16), ours: { kind: "data-missing", files: [file] }, difference: "Other prompts." },
    { source: sourceOf("overhead", 2), ours: { kind: "failed", benchmark: "the clock", message: "it stopped." }, difference: "One core." },
  ],
};

describe("describeReproduction", () => {
  it("has a line a figure, ours beside the source's, and each reason once", () => {
    const lines = describeReproduction(reproduction)
      .split("\n")
      .map((line) => line.trim().replaceAll(/ {2,}/g, " | "));
    expect(lines).toEqual([
      "figure | ours | source | reason",
      "5: speed-up | 1.23 x (1.1 to 1.4, 3 seeds) | 3.4 times | [1]",
      "5: frontier | not measured | no number | [1]",
      "5: score | data missing | 16 times | [2]",
      "5: overhead | failed | 2 times | [3]",
      "",
      "[1] Other GPUs.",
      "[2] Needs data/outcomes.csv. Other prompts.",
      "[3] the clock failed: it stopped. One core.",
      "",
    ]);
  });
});

it("shows several figures of one row as they are", () => {
  const ours: OwnFigure = { ...measured, value: "78, 5", unit: "judged score", interval: null, seeds: null };
  const rows = [{ source: sourceOf("thresholds", null), ours, difference: "Other prompts." }];
  expect(describeReproduction({ ...reproduction, rows })).toMatch(/5: thresholds +78, 5 judged score +no number/);
});

describe("reproductionPage", () => {
  it("is a table with the data that were read and what was measured", () => {
    const page = reproductionPage(reproduction);
    expect(page).toContain("| 5 | speed-up | 1.23 x (1.1 to 1.4, 3 seeds) | 3.4 times | 4.2 | Other GPUs. |\n");
    expect(page).toContain("- data/outcomes.csv: answers (missing)\n");
    expect(page).toContain("- the race: three ladders | two loads\n");
    expect(reproductionPage({ ...reproduction, rows: [{ ...reproduction.rows[0], difference: "a | b" } as never] })).toContain(
      "| a \\| b |\n",
    );
  });
});

describe("missingText", () => {
  it("names a missing file and its origin", () => {
    expect(reproduction.data.map(missingText)).toEqual(["Missing: data/outcomes.csv (answers), from a repository."]);
  });
});
