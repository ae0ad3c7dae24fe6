import { solveLinear } from "./leastSquares";

/** Maximum number of columns: more would have too many subsets. */
const MOST_COLUMNS = 8;

/** Minimum independent part of a column in a subset: with less, its equations cannot separate it from the others. */
const LEAST_PIVOT = 1e-9;

/** Minimum length of a column: shorter ones would have coefficients out of range. */
const LEAST_LENGTH = 1e-100;

/**
 * Non-negative coefficients that minimise the sum of squared differences between `matrix` times them and `right`. Every subset of the
 * columns is fitted and the best without a negative coefficient selected, so that the result is exact; of linearly dependent columns only
 * one is used.
 *
 * @param matrix rows of at most eight numbers each.
 * @throws RangeError for more columns.
 */
export function nonNegativeLeastSquares(matrix: readonly (readonly number[])[], right: readonly number[]): readonly number[] {
  const columns = matrix[0]?.length ?? 0;
  if (columns > MOST_COLUMNS)
    throw new RangeError(`At most ${MOST_COLUMNS} columns are fitted without negative coefficients, found ${columns}`);
  // Columns scaled to one length, so that pivots can be distinguished from rounding; zero columns stay zero.
  const scales = Array.from({ length: columns }, (_, column) => {
    const length = Math.hypot(...matrix.map((row) => row[column] ?? 0));
    return length > LEAST_LENGTH ? length : Number.POSITIVE_INFINITY;
  });
  const scaled = matrix.map((row) => row.map((value, column) => value / (scales[column] ?? 1)));
  const product = (a: number, b: number): number => scaled.reduce((sum, row) => sum + (row[a] ?? 0) * (row[b] ?? 0), 0);
  const normal = scales.map((_, a) => scales.map((__, b) => product(a, b)));
  const gradient = scales.map((_, a) => scaled.reduce((sum, row, at) => sum + (row[a] ?? 0) * (right[at] ?? 0), 0));

  let best: readonly number[] = scales.map(() => 0);
  let least = cost(scaled, right, best);
  for (let subset = 1; subset < 2 ** columns; subset++) {
    const used = scales.flatMap((_, column) => ((subset >> column) & 1 ? [column] : []));
    const part = used.map((a) => used.map((b) => normal[a]?.[b] ?? 0));
    if (!(determinant(part) > LEAST_PIVOT)) continue;
    const solution = solveLinear(
      part,
      used.map((column) => gradient[column] ?? 0),
    );
    if (solution.some((value) => !(value >= 0))) continue;
    const tried = scales.map((_, column) => solution[used.indexOf(column)] ?? 0);
    const own = cost(scaled, right, tried);
    if (own < least) [best, least] = [tried, own];
  }
  return best.map((value, column) => value / (scales[column] ?? 1));
}

function cost(matrix: readonly (readonly number[])[], right: readonly number[], coefficients: readonly number[]): number {
  return matrix.reduce((sum, row, at) => {
    const predicted = row.reduce((total, value, column) => total + value * (coefficients[column] ?? 0), 0);
    return sum + (predicted - (right[at] ?? 0)) ** 2;
  }, 0);
}

/** Determinant of a small matrix, by its first row. For columns of length 1 it is at most 1, and 0 where they are linearly dependent. */
function determinant(matrix: readonly (readonly number[])[]): number {
  const [first, ...rest] = matrix;
  if (first === undefined) return 1;
  return first.reduce((sum, value, at) => {
    const minor = rest.map((row) => row.filter((_, column) => column !== at));
    return sum + (at % 2 === 0 ? value : -value) * determinant(minor);
  }, 0);
}
