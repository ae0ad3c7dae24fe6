import { describe, expect, it } from "vitest";
import { parsePin } from "../address/routingKey";
import { type ComparedPlan, compareText, type Pin, prepareCompare, type RunningPlan } from "./prepareCompare";

const plan = (key: string, figures: ComparedPlan["figures"]): ComparedPlan => ({
  routing: parsePin(key)?.routing ?? { models: [], thresholds: [] },
  gpus: [figures.gpus - 2, 2],
  quality: figures.quality + 1,
  figures,
});
const pin = (key: string, of: ComparedPlan | null): Pin => ({
  key,
  pinned: parsePin(key) ?? { routing: { models: [], thresholds: [] }, gpus: null },
  plan: of,
});
const first = pin("small@40~large", plan("small@40~large", { quality: 80, latency: 4, cost: 0.001, gpus: 8 }));
const second = pin("small@60~large*6", plan("small@60~large", { quality: 84, latency: 6, cost: 0.0008, gpus: 6 }));
const running: RunningPlan = { ...plan("small@50~large", { quality: 82, latency: 5, cost: 0.001, gpus: 8 }), otherTraffic: null };

const row = (comparison: ReturnType<typeof prepareCompare>, axis: string) => comparison.rows.find((each) => each.axis === axis)?.cells;

describe("prepareCompare", () => {
  it("compares with the running plan, which stands first", () => {
    const comparison = prepareCompare([first, second], running);
    expect(comparison.columns.map((column) => column.key)).toEqual(["running", first.key, second.key]);
    expect(row(comparison, "quality")?.map((cell) => cell.delta)).toEqual([null, "−2.0 points", "+2.0 points"]);
    expect(row(comparison, "cost")?.map((cell) => cell.delta)).toEqual([null, "±0 %", "−20 %"]);
    expect(comparison.reference).toContain("running");
  });

  it("compares with the first pin where nothing runs", () => {
    const comparison = prepareCompare([first, second], null);
    expect(row(comparison, "latency")?.map((cell) => cell.delta)).toEqual([null, "+2.00 s"]);
    expect(row(comparison, "gpus")?.map((cell) => cell.delta)).toEqual([null, "−2 GPUs"]);
  });

  it("leaves what runs for other traffic out of differences and bests, and compares with the first pin", () => {
    const comparison = prepareCompare([first, second], {
      ...running,
      figures: { ...running.figures, latency: 1 },
      otherTraffic: "at 20/s",
    });
    expect(row(comparison, "latency")?.map(({ delta, best }) => [delta, best])).toEqual([
      [null, false],
      [null, true],
      ["+2.00 s", false],
    ]);
    expect(row(comparison, "latency")?.[0]?.text).toContain("1.00");
    expect(comparison.reference).toBe("the first pinned plan");
  });

  it("goes by the mean quality for the best as for the difference", () => {
    const wide = { ...second, plan: second.plan && { ...second.plan, quality: 80.5 } };
    expect(row(prepareCompare([first, wide], null), "quality")?.map(({ delta, best }) => [delta, best])).toEqual([
      [null, true],
      ["−0.5 points", false],
    ]);
  });

  it("marks the best of each row: the highest quality, the lowest of everything else, and none where all are alike", () => {
    const comparison = prepareCompare([first, second], running);
    const best = (axis: string) => row(comparison, axis)?.map((cell) => cell.best);
    expect(best("quality")).toEqual([false, false, true]);
    expect(best("latency")).toEqual([false, true, false]);
    expect(best("cost")).toEqual([false, false, true]);
    expect(row(prepareCompare([first, { ...first, key: "again" }], null), "latency")?.some((cell) => cell.best)).toBe(false);
  });

  it("keeps the column of a pin that was not evaluated here, without figures, and compares with the next", () => {
    const comparison = prepareCompare([pin("gone", null), first, second], null);
    expect(row(comparison, "quality")?.map((cell) => [cell.text, cell.delta])).toEqual([
      ["–", null],
      ["81.0 ≥80.0", null],
      ["85.0 ≥84.0", "+4.0 points"],
    ]);
  });
});

describe("compareText", () => {
  it("is a line per plan under a header with units, empty where a figure is unknown", () => {
    const text = compareText([first, pin("gone", null)], running, { quality: "quality, lower 90 % bound", latency: "p95 end to end, s" });
    const lines = text.split("\n").map((line) => line.split("\t"));
    expect(lines[0]).toEqual([
      "plan",
      "cascade",
      "thresholds",
      "direct start from router score",
      "GPUs per model",
      "GPUs",
      "mean quality (0-100)",
      "quality, lower 90 % bound (0-100)",
      "p95 end to end, s",
      "cost ($/request)",
    ]);
    expect(lines[1]).toEqual(["running", "small > large", "50", "", "6, 2", "8", "83", "82", "5", "0.001"]);
    expect(lines[3]).toEqual(["pin 2", "gone", "", "", "", "", "", "", "", ""]);
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([10]));
  });

  it("tells apart plans that differ by their direct start alone, and says for which traffic what runs was promised", () => {
    const labels = { quality: "quality", latency: "p95 end to end, s" };
    const lines = compareText([first, pin("small@40~large^30", first.plan)], { ...running, otherTraffic: "at 20/s" }, labels).split("\n");
    expect(lines[1]).toMatch(/^running, predicted at 20\/s\t/);
    expect(lines[2]?.replace("pin 1", "")).not.toBe(lines[3]?.replace("pin 2", ""));
    expect(lines[3]?.split("\t")[3]).toBe("30");
  });
});
