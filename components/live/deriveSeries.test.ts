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
