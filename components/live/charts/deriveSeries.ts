import type { SeriesColumns, SeriesKey, SeriesRange } from "@/server/contracts/studio";

/** A series made of others, value by value. */
export interface DerivedSeries {
  readonly key: SeriesKey;
  readonly of: readonly SeriesKey[];
  /** `sum` is unknown while a part of it is: it would look like a loss. `mean` is of those that are known. `share` is the first of the second, which stays as it is. */
  readonly how: "sum" | "mean" | "share";
  /** What each value is multiplied by, for another unit. */
  readonly times?: number;
}

type Cell = number | null;

function combined(cells: readonly Cell[], how: DerivedSeries["how"], times: number): Cell {
  if (how === "share") {
    const [part = null, whole = null] = cells;
    return part === null || whole === null || whole === 0 ? null : (part / whole) * times;
  }
  const known = cells.filter((cell) => cell !== null);
  if (known.length === 0 || (how === "sum" && known.length < cells.length)) return null;
  const sum = known.reduce((total, cell) => total + cell, 0);
  return (how === "sum" ? sum : sum / known.length) * times;
}

/**
 * The range with series added that are made of its own. Of sums and means of several series only mean and last value are told, the mean in
 * place of the extremes: that two were highest within one bucket does not say that they were so at once.
 */
export function deriveSeries(range: SeriesRange, derived: readonly DerivedSeries[]): SeriesRange {
  if (derived.length === 0) return range;
  const columnsOf = (key: SeriesKey) => range.series.find(({ subject, quantity }) => subject === key.subject && quantity === key.quantity);
  const made = derived.map(({ key, of, how, times = 1 }): SeriesColumns => {
    const parts = of.flatMap((each) => columnsOf(each) ?? []);
    const column = (name: "min" | "max" | "mean" | "last") =>
      range.atMs.map((_, at) =>
        parts.length < of.length && how !== "mean"
          ? null
          : combined(
              parts.map((part) => part[name][at] ?? null),
              how,
              times,
            ),
      );
    const mean = column("mean");
    const single = of.length === 1 || how === "share";
    return {
      ...key,
      mean,
      min: single ? column("min") : mean,
      max: single ? column("max") : mean,
      last: column("last"),
      count: range.atMs.map((_, at) => (mean[at] === null ? 0 : Math.max(...parts.map((part) => part.count[at] ?? 0)))),
    };
  });
  return { ...range, series: [...range.series, ...made] };
}
