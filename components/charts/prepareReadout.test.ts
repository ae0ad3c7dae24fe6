import { describe, expect, it } from "vitest";
import { draggedWindow, nearestBucket, readout, zoomAround } from "./prepareReadout";
import { prepareTimeChart } from "./prepareTimeChart";

const line = (quantity: string) => ({ key: { subject: "gateway", quantity }, name: quantity, hue: "red", dashed: false });
const column = (quantity: string, mean: readonly (number | null)[], spread: number) => ({
  subject: "gateway",
  quantity,
  mean,
  min: mean.map((value) => (value === null ? null : value - spread)),
  max: mean.map((value) => (value === null ? null : value + spread)),
  last: mean,
  count: mean.map(() => 1),
});
const picture = prepareTimeChart(
  {
    spec: { id: "c", title: "Chart", unit: "", format: String, draws: "mean", series: ["low", "gap", "high"].map(line) },
    range: {
      bucketMs: 10_000,
      atMs: [0, 10_000, 40_000],
      series: [column("low", [1, 2, 3], 0), column("gap", [1, null, 3], 0), column("high", [5, 6, 7], 1)],
      problems: [],
    },
    window: { fromMs: 0, toMs: 100_000 },
    bands: [],
    marks: [],
  },
  { width: 200, height: 100 },
  () => 0,
);

describe("nearestBucket", () => {
  it("finds the bucket whose middle is nearest", () => {
    expect([0, 9_000, 11_000, 29_000, 31_000, 99_000].map((atMs) => nearestBucket(picture, atMs))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it("finds none ahead of the window", () => {
    expect(nearestBucket(picture, 100_001)).toBeNull();
  });

  it("stays at the edge of a window that has moved past the time", () => {
    expect(nearestBucket(picture, -2_500)).toBe(0);
  });
});

describe("readout", () => {
  it("gives the highest first, gaps last and in words, and the spread of a bucket that held several values", () => {
    expect(readout(picture, 1, String).map(({ name, text }) => [name, text])).toEqual([
      ["high", "6 (5 to 7)"],
      ["low", "2"],
      ["gap", "no sample"],
    ]);
  });

  it("tells dashed lines from others of the same hue", () => {
    const dashed = { ...picture, series: picture.series.map((series) => ({ ...series, dashed: series.name === "gap" })) };
    expect(readout(dashed, 0, String).map((row) => [row.name, row.dashed])).toEqual([
      ["high", false],
      ["low", false],
      ["gap", true],
    ]);
  });
});

describe("draggedWindow", () => {
  it("is the stretch between the two ends, in either direction", () => {
    expect(draggedWindow(picture, 20, 60)).toEqual({ fromMs: 10_000, toMs: 30_000 });
    expect(draggedWindow(picture, 60, 20)).toEqual({ fromMs: 10_000, toMs: 30_000 });
  });

  it("is nothing after a click", () => {
    expect(draggedWindow(picture, 20, 24)).toBeNull();
  });

  it("stays in the window, and wide enough to hold samples", () => {
    expect(draggedWindow(picture, 150, 900)).toEqual({ fromMs: 75_000, toMs: 100_000 });
    expect(draggedWindow(picture, 195, 200)).toEqual({ fromMs: 95_000, toMs: 100_000 });
  });
});

describe("zoomAround", () => {
  it("halves the window around a time and stays in it", () => {
    expect(zoomAround({ fromMs: 0, toMs: 100_000 }, 50_000)).toEqual({ fromMs: 25_000, toMs: 75_000 });
    expect(zoomAround({ fromMs: 0, toMs: 100_000 }, 98_000)).toEqual({ fromMs: 50_000, toMs: 100_000 });
  });

  it("ends where hardly a sample would be left", () => {
    expect(zoomAround({ fromMs: 0, toMs: 8_000 }, 4_000)).toBeNull();
  });
});
