import type { SeriesColumns, SeriesKey, SeriesRange } from "@/server/contracts/studio";

/** A series computed from others, value by value. */
export interface DerivedSeries {
  readonly key: SeriesKey;
  readonly of: readonly SeriesKey[];
  /**
   * `sum` is unknown if any part is: a partial sum would look like a loss. `mean` is of the known ones. `share` is the first over the
   * second, which stays unchanged.
   */
  readonly how: "sum" | "mean" | "share";
  /** Factor for another unit. */
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
 * The range with derived series added. For sums and means of several series only mean and last value exist, the mean in
 * place of the extremes: two series need not have their maxima of one bucket at the same time.
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
