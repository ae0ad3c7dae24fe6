import { expect, it } from "vitest";
import type { SeriesRange } from "@/server/contracts/studio";
import { deriveSeries } from "./deriveSeries";

const of = (subject: string, values: readonly (number | null)[]) => ({
  subject,
  quantity: "activity",
  min: values.map((value) => (value === null ? null : value - 1)),
  max: values.map((value) => (value === null ? null : value + 1)),
  mean: values,
  last: values,
  count: values.map((value) => (value === null ? 0 : 2)),
});
const range: SeriesRange = {
  bucketMs: 1000,
  atMs: [0, 1000, 2000],
  series: [of("a", [1, 2, null]), of("b", [3, null, null])],
  problems: [],
};
const parts = range.series.map(({ subject, quantity }) => ({ subject, quantity }));
const key = { subject: "all", quantity: "activity" };
const made = (how: "sum" | "mean", from = parts, times?: number) =>
  deriveSeries(range, [{ key, of: from, how, ...(times === undefined ? {} : { times }) }]).series.at(-1);

it("sums only what is known whole: a part would look like a loss", () => {
  expect(made("sum")).toMatchObject({ ...key, mean: [4, null, null], last: [4, null, null], count: [2, 0, 0] });
  expect(made("sum", [...parts, { subject: "never asked for", quantity: "activity" }])?.mean).toEqual([null, null, null]);
});

it("takes the mean of those that are known, and leaves a gap where none is", () => {
  expect(made("mean")?.mean).toEqual([2, 2, null]);
});

it("does not take two highest values within a bucket for one that was there at once", () => {
  expect(made("sum")?.max).toEqual([4, null, null]);
});

it("gives one series in another unit, its extremes too", () => {
  expect(made("sum", parts.slice(0, 1), 100)).toMatchObject({ mean: [100, 200, null], min: [0, 100, null], max: [200, 300, null] });
});

it("leaves the series that are there as they are", () => {
  expect(deriveSeries(range, []).series).toEqual(range.series);
});

it("gives one series as a share of another, its extremes too, and none while either is unknown", () => {
  const bytes: SeriesRange = {
    ...range,
    series: [of("used", [20, 40, 60]), { ...of("total", [80, 80, null]), min: [80, 80, null], max: [80, 80, null] }],
  };
  const [used, total] = bytes.series.map(({ subject, quantity }) => ({ subject, quantity }));
  const share = (wanted: typeof parts) => deriveSeries(bytes, [{ key, of: wanted, how: "share" }]).series.at(-1);
  expect(share([used ?? key, total ?? key])).toMatchObject({
    mean: [0.25, 0.5, null],
    max: [21 / 80, 41 / 80, null],
    last: [0.25, 0.5, null],
  });
  expect(share([used ?? key, { subject: "never asked for", quantity: "activity" }])?.mean).toEqual([null, null, null]);
});
