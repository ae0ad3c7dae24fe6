import { quantileOfSorted } from "../numeric/quantile";

/** Quantiles 0, 0.01, ..., 1 of the values. @param values at least one. */
export function percentiles(values: Float64Array): readonly number[] {
  const ascending = values.slice().sort();
  return Array.from({ length: 101 }, (_, percent) => quantileOfSorted(ascending, percent / 100));
}
