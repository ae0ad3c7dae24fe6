import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SeriesRange } from "@/server/contracts/studio";
import type { ChartSpec } from "./chartSpec";
import { MAX_SERIES, prepareTimeChart, type TimeChartInput, type TimePicture } from "./prepareTimeChart";

const size = { width: 300, height: 100 };
const line = (quantity: string) => ({ key: { subject: "gateway", quantity }, name: quantity, hue: "red", dashed: false });
const spec = (more: Partial<ChartSpec> = {}): ChartSpec => ({
  id: "c",
  title: "Chart",
  unit: " s",
  format: String,
  series: [line("a")],
  draws: "mean",
  ...more,
});

/** Buckets of one second from zero, with these means; the highest of each is one more. */
function range(columns: Readonly<Record<string, readonly (number | null)[]>>, atMs?: readonly number[]): SeriesRange {
  const length = Math.max(...Object.values(columns).map((values) => values.length));
  return {
    bucketMs: 1000,
    atMs: atMs ?? Array.from({ length }, (_, at) => at * 1000),
    series: Object.entries(columns).map(([quantity, mean]) => ({
      subject: "gateway",
      quantity,
      mean,
      min: mean,
      max: mean.map((value) => (value === null ? null : value + 1)),
      last: mean,
      count: mean.map((value) => (value === null ? 0 : 2)),
    })),
    problems: [],
  };
}

const prepare = (input: Partial<TimeChartInput>): TimePicture =>
  prepareTimeChart(
    { spec: spec(), range: range({ a: [] }), window: { fromMs: 0, toMs: 10_000 }, bands: [], marks: [], ...input },
    size,
    () => 0,
  );
const runs = (path: string): number => path.split("M").length - 1;

/** The points of a path as pixels. */
const points = (path: string): readonly (readonly [number, number])[] =>
  [...path.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);

describe("prepareTimeChart", () => {
  it("lifts the pen over a bucket without a value and never draws it as zero", () => {
    const { series } = prepare({ range: range({ a: [5, 5, null, 6, 6] }) });
    expect(runs(series[0]?.path ?? "")).toBe(2);
    expect(series[0]?.values).toEqual([5, 5, null, 6, 6]);
    expect(points(series[0]?.path ?? "").every(([, y]) => y < size.height)).toBe(true);
  });

  it("draws through buckets that are left out because they are narrower than the time between two samples", () => {
    const { series } = prepare({ range: range({ a: [5, 6, 7] }, [0, 2000, 4000]) });
    expect(runs(series[0]?.path ?? "")).toBe(1);
  });

  it("shows a value alone between two gaps as a short dash", () => {
    expect(prepare({ range: range({ a: [null, 4, null] }) }).series[0]?.path).toMatch(/^M[\d.]+ [\d.]+h3$/);
  });

  it("shows the whole window, also where the data ends before it, and nothing from outside it", () => {
    const picture = prepare({ range: range({ a: [1, 2, 3, 4, 5, 6] }), window: { fromMs: 2000, toMs: 12_000 } });
    expect(picture.atMs).toEqual([2000, 3000, 4000, 5000]);
    expect(picture.x.at(-1)).toBeCloseTo((3500 / 10_000) * size.width);
    expect(picture.timeTicks.at(-1)?.x).toBeGreaterThan(picture.x.at(-1) ?? 0);
  });

  it("keeps the bucket that is still filling inside the window", () => {
    const { x } = prepare({ range: range({ a: [1, 2] }), window: { fromMs: 0, toMs: 1200 } });
    expect(x.at(-1)).toBe(size.width);
  });

  it("draws the highest of each bucket where the spike is the message", () => {
    expect(prepare({ spec: spec({ draws: "max" }), range: range({ a: [3, 4] }) }).series[0]?.values).toEqual([4, 5]);
  });

  it("begins at zero, leaves room above, and reaches as far as it is told to", () => {
    const picture = prepare({ range: range({ a: [3, 9.9] }) });
    expect(picture.bottom).toBe(0);
    expect(picture.top).toBeGreaterThan(9.9);
    expect(prepare({ range: range({ a: [0.1] }), spec: spec({ atLeast: 1, unit: " %", perUnit: 0.01 }) })).toMatchObject({
      top: 1,
      valueTicks: [{ text: "0 %" }, { text: "50 %" }, { text: "100 %" }],
    });
  });

  it("makes room for a promise and a threshold above all that was measured", () => {
    const band = { fromMs: -5000, toMs: 5000, low: 10, high: 30, value: 20 };
    const { top, bands } = prepare({ range: range({ a: [1] }), bands: [band] });
    expect(top).toBeGreaterThan(30);
    expect(bands[0]?.box).toMatchObject({ x: 0, width: size.width / 2 });
    expect(prepare({ range: range({ a: [1] }), spec: spec({ threshold: { value: 50, text: "bound" } }) }).top).toBeGreaterThan(50);
  });

  it("draws a promise without a spread as a line alone, and none that lies outside the window", () => {
    const band = { fromMs: 0, toMs: 5000, low: 2, high: 2, value: 2 };
    expect(prepare({ bands: [band] }).bands[0]?.box).toBeNull();
    expect(prepare({ bands: [{ ...band, toMs: -1, fromMs: -2 }] }).bands).toEqual([]);
  });

  it("marks what happened inside the window only", () => {
    const marks = [
      { atMs: 5000, text: "plan b" },
      { atMs: 50_000, text: "later" },
    ];
    expect(prepare({ marks }).marks).toEqual([{ x: size.width / 2, text: "plan b" }]);
  });

  it("draws those that rose highest where there are more than eyes can follow, in their order, and counts all", () => {
    const names = Array.from({ length: MAX_SERIES + 3 }, (_, index) => `s${index}`);
    const picture = prepare({
      spec: spec({ series: names.map(line) }),
      range: range(Object.fromEntries(names.map((name, index) => [name, [index]]))),
    });
    expect(picture.series.map(({ name }) => name)).toEqual(names.slice(3));
    expect(picture.seriesInAll).toBe(names.length);
  });

  it("says when there is nothing to draw, and has axes all the same", () => {
    const picture = prepare({ range: range({ b: [1] }) });
    expect(picture.hasValues).toBe(false);
    expect(picture.series[0]).toMatchObject({ path: "", last: null });
    expect(picture.valueTicks.length).toBeGreaterThan(1);
  });

  it("gives the key the newest sample, also where means or extremes are drawn", () => {
    const buckets = range({ a: [1, 2, 3] });
    const last = buckets.series.map((series) => ({ ...series, last: [1, 2, 2.5] }));
    for (const draws of ["mean", "max"] as const) {
      const window = { fromMs: 0, toMs: 3000 };
      expect(prepare({ spec: spec({ draws }), range: { ...buckets, series: last }, window }).series[0]?.last).toBe(2.5);
    }
  });

  it("gives the key no value that is older than a sample or two that may be lost", () => {
    const newest = (mean: readonly (number | null)[], toMs = mean.length * 1000, atMs?: readonly number[]) => {
      const one = range({ a: mean }, atMs);
      const series = one.series.map((each) => ({ ...each, count: each.count.map((count) => Math.min(1, count)) }));
      return prepare({ range: { ...one, series }, window: { fromMs: 0, toMs } }).series[0]?.last;
    };
    expect(newest([1, 2, null])).toBe(2);
    expect(newest([1, 2, ...Array.from({ length: 45 }, () => null)])).toBeNull();
    // Samples that come every 5 s, in buckets of 1 s.
    expect(newest([1, 2, 3], 14_000, [0, 5000, 10_000])).toBe(3);
    // Nothing at all was collected in the second half of the stretch.
    expect(newest([1, 2, 3], 6000)).toBe(3);
    expect(newest([1, 2, 3], 8000)).toBeNull();
  });

  it("gives the key no value of the bucket before, where that is hours wide", () => {
    const hours = (mean: readonly (number | null)[], minutesLater: number) => {
      const one = range({ a: mean }, [0, 7_200_000].slice(0, mean.length));
      const series = one.series.map((each) => ({ ...each, count: each.count.map((count) => count * 3600) }));
      const window = { fromMs: 0, toMs: 7_200_000 + minutesLater * 60_000 };
      return prepare({ range: { ...one, bucketMs: 7_200_000, series }, window }).series[0]?.last;
    };
    expect(hours([1, null], 10)).toBeNull();
    expect(hours([1, 2], 10)).toBe(2);
    // Where only complete buckets are reported, the next one is not there yet.
    expect(hours([1], 10)).toBe(1);
  });

  it("has a tick of its own for each noon of some days", () => {
    const { timeTicks } = prepare({ window: { fromMs: 0, toMs: 2.5 * 86_400_000 } });
    expect(timeTicks.map(({ text }) => text).filter((text) => text === "12:00").length).toBeGreaterThan(1);
    expect(new Set(timeTicks.map(({ atMs }) => atMs)).size).toBe(timeTicks.length);
  });

  it("loses no extreme by thinning, and draws nothing that was not measured", () => {
    const values = fc.array(fc.option(fc.double({ min: 0, max: 1000, noNaN: true }), { nil: null, freq: 20 }), {
      minLength: 1,
      maxLength: 900,
    });
    fc.assert(
      fc.property(values, (mean) => {
        const { series, top, bottom, x } = prepare({ range: range({ a: mean }), window: { fromMs: 0, toMs: mean.length * 1000 } });
        const path = series[0]?.path ?? "";
        const rounded = (value: number) => Math.round(value * 10) / 10;
        const y = (value: number) => rounded(size.height * (1 - (value - bottom) / (top - bottom)));
        const measured = new Set(mean.flatMap((value, at) => (value === null ? [] : [`${rounded(x[at] ?? 0)} ${y(value)}`])));
        // A lone value's dash begins half its length before it.
        const drawn = points(path.replaceAll(/M(\S+) (\S+)h3/g, (_, left, at) => `M${rounded(Number(left) + 1.5)} ${at}h3`));
        expect(drawn.filter(([left, at]) => !measured.has(`${left} ${at}`))).toEqual([]);
        const known = mean.filter((value) => value !== null);
        const ys = drawn.map(([, at]) => at);
        if (known.length > 0) {
          expect(Math.min(...ys)).toBe(y(Math.max(...known)));
          expect(Math.max(...ys)).toBe(y(Math.min(...known)));
        }
      }),
    );
  });
});
