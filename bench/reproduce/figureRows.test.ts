import { describe, expect, it } from "vitest";
import { file, skipWithout } from "@/scripts/needs.mjs";
import { entryOf, figureName, ownFigure } from "./figureRows";
import { neededData } from "./neededData";
import { systems } from "./systems";

describe("figureName", () => {
  it("is the same for all ways of writing a figure or a table", () => {
    expect(["5", "Figure 5", "fig. 5", " figure  5 "].map(figureName)).toEqual(["5", "5", "5", "5"]);
    expect(["T1", "t1", "Table 1", "table1", "text"].map(figureName)).toEqual(["table 1", "table 1", "table 1", "table 1", "text"]);
  });
});

describe("entryOf", () => {
  const source = { figure: "T1", what: "7 GPUs: error", value: 4.3, unit: "%", section: "B" };

  it("is the first that names a part of the row, else that of the whole figure, else none", () => {
    const entries = [
      { figure: "table 1", rows: "8 GPUs", difference: "other row" },
      { figure: "table 1", rows: "error", difference: "this row" },
      { figure: "table 1", difference: "all rows" },
    ];
    expect(entryOf(entries, source).difference).toBe("this row");
    expect(entryOf(entries, { ...source, what: "measured" }).difference).toBe("all rows");
    expect(entryOf([], source)).toEqual({ difference: "No benchmark of this repository measures it." });
  });
});

describe("ownFigure", () => {
  it("brings a ratio, and the ends of its interval in order, to the source's unit", () => {
    const measured = { figure: 0.7, unit: "x", detail: "of 3", interval: { low: 0.6, high: 0.8 }, seeds: 3 };
    const own = ownFigure("queue", measured, "per cent less");
    expect(own).toMatchObject({
      kind: "measured",
      value: expect.closeTo(30, 9),
      unit: "% less",
      seeds: 3,
      benchmark: "queue",
      detail: "of 3",
    });
    expect(own.kind === "measured" && own.interval).toEqual({ low: expect.closeTo(20, 9), high: expect.closeTo(40, 9) });
    expect(ownFigure("router", { ...measured, figure: 1.25 }, "per cent less than the other")).toMatchObject({
      value: expect.closeTo(20, 9),
    });
    expect(ownFigure("replay", { figure: Number.NaN, unit: "x", detail: "" }, undefined)).toMatchObject({ kind: "measured", value: null });
    expect(ownFigure("plan", { figure: 1500, unit: "ms", detail: "" }, "seconds")).toMatchObject({ value: 1.5, unit: "s", interval: null });
  });
});

/** Decimals that a reason may have: names of models, the source's own figures, and settings. Those that were measured change with a run. */
const STATED = [
  /(Qwen2|Llama[- ]3)\.\d/g,
  /the source: [\d.]+/g,
  /(AUC|against one of|correlation of|correlated by) \.\d+/g,
  /0\.95 of saturation/g,
  /floor 0\.\d+/g,
  /falls of 0\.6 points/g,
] as const;

const unstated = (difference: string): readonly string[] =>
  STATED.reduce((text, stated) => text.replaceAll(stated, ""), difference).match(/\d*\.\d+/g) ?? [];

it("finds a measured decimal, and none in names, settings and figures of the source", () => {
  expect(unstated("Qwen2.5 and Llama-3.1 (the source: 1.10) by a judge of AUC .80 at 0.95 of saturation, 10.1 % off")).toEqual(["10.1"]);
});

describe.each(Object.entries(systems))("the figures of %s", (_, { source, entries, benchmarks, data }) => {
  it("have an entry each that says why ours differs, and no entry is of none", () => {
    const used = new Set(source.map((row) => entryOf(entries, row)));
    for (const row of source) expect(entries, row.what).toContain(entryOf(entries, row));
    for (const entry of entries) expect(used, `${entry.figure} ${entry.rows ?? ""}`).toContain(entry);
    for (const { difference } of entries) expect(difference).toMatch(/^[^a-z].*\.$/);
  });

  it("say nothing of whether they were run, and no figure that a run measures", () => {
    for (const { difference } of entries) {
      expect(difference).not.toMatch(/\b(not run|no run)\b/i);
      expect(unstated(difference), difference).toEqual([]);
    }
  });

  it("are measured by benchmarks that exist", (context) => {
    skipWithout(context, ...neededData(data).map((needed) => file(needed.file)));
    const names = benchmarks.map(({ name }) => name);
    for (const { benchmark } of entries) if (benchmark !== undefined) expect(names).toContain(benchmark);
  });
});
