import { solveLinear } from "./leastSquares";

/** Positions of points along the one axis that preserves most of their squared distances. */
export interface LeadingCoordinate {
  /** In the unit of the distances, with a mean of 0; the orientation is arbitrary. All 0 where the points coincide. */
  readonly coordinates: Float64Array;
  /** The leading eigenvalue of the doubly centred squares: the sum of the squared coordinates. */
  readonly eigenvalue: number;
  /** The mean squared distance of each point from all points, including itself: the data for adding another point. */
  readonly meanSquares: Float64Array;
}

/** Residual relative to the eigenvalue at which the axis has converged. */
const CONVERGED = 1e-8;

/** Maximum number of multiplications, for an axis that is hardly longer than the next. */
const MOST_STEPS = 64;

/** Share of a generic direction in the start, so that no axis is orthogonal to all of it. */
const IRREGULAR = 1e-3;

/**
 * Classical multidimensional scaling to one dimension (Torgerson, 1952): the leading eigenvector of the squared distances, halved, negated
 * and doubly centred. Points on a line keep their distances. Distances need not be Euclidean: then some eigenvalues are negative, but the
 * largest is above 0 unless all points coincide.
 *
 * The eigenvector is computed by Lanczos' method with full reorthogonalisation. Each step reads the squares once, O(n^2), and a start near
 * the axis needs few. Deterministic.
 *
 * @param squares squared distances, finite, each pair once: of points i > j at `i * (i - 1) / 2 + j`.
 * @param start one number per point, a guess of its position; a poor one only costs time.
 */
export function leadingCoordinate(squares: Float32Array, start: Float64Array): LeadingCoordinate {
  const points = start.length;
  const meanSquares = timesSquares(squares, new Float64Array(points).fill(1)).map((sum) => sum / points);
  const basis: Float64Array[] = [];
  const diagonal: number[] = [];
  const beside: number[] = [];
  let axis: Eigenpair = { value: 0, vector: [] };
  let next = irregular(start);
  while (basis.length < Math.min(points, MOST_STEPS)) {
    const length = norm(next);
    if (length === 0) break;
    const direction = next.map((value) => value / length);
    basis.push(direction);
    next = doublyCentred(timesSquares(squares, direction));
    diagonal.push(dot(next, direction));
    // The second pass removes the rounding errors of the first.
    for (let pass = 0; pass < 2; pass += 1) for (const before of basis) addTimes(next, -dot(next, before), before);
    axis = leadingEigenpair(diagonal, beside);
    const beyond = norm(next);
    if (beyond * Math.abs(axis.vector.at(-1) ?? 0) <= CONVERGED * Math.abs(axis.value)) break;
    beside.push(beyond);
  }
  const eigenvalue = Math.max(0, axis.value);
  const coordinates = new Float64Array(points);
  for (const [at, direction] of basis.entries()) addTimes(coordinates, Math.sqrt(eigenvalue) * (axis.vector[at] ?? 0), direction);
  return { coordinates, eigenvalue, meanSquares };
}

/** The symmetric matrix of squares, whose diagonal is 0, times a vector. Two rows at once: their independent additions overlap. */
function timesSquares(squares: Float32Array, vector: Float64Array): Float64Array {
  const product = new Float64Array(vector.length);
  for (let i = 1; i < vector.length; i += 2) {
    const hasNext = i + 1 < vector.length;
    const own = vector[i] ?? 0;
    const next = hasNext ? (vector[i + 1] ?? 0) : 0;
    const row = (i * (i - 1)) / 2;
    const nextRow = hasNext ? row + i : row;
    let sum = 0;
    let nextSum = 0;
    for (let j = 0; j < i; j += 1) {
      const square = squares[row + j] ?? 0;
      const nextSquare = squares[nextRow + j] ?? 0;
      const value = vector[j] ?? 0;
      sum += square * value;
      nextSum += nextSquare * value;
      product[j] = (product[j] ?? 0) + square * own + nextSquare * next;
    }
    const between = hasNext ? (squares[nextRow + i] ?? 0) : 0;
    product[i] = sum + between * next;
    if (hasNext) product[i + 1] = nextSum + between * own;
  }
  return product;
}

/** The product of the doubly centred matrix and a vector whose sum is 0, from that of the squares. */
function doublyCentred(product: Float64Array): Float64Array {
  const mean = meanOf(product);
  return product.map((value) => (mean - value) / 2);
}

/** A start whose sum is 0, with a component in every direction. */
function irregular(start: Float64Array): Float64Array {
  const moved = centredUnit(start);
  // Fractional parts of multiples of the golden ratio are spread evenly and never repeat.
  const spread = centredUnit(start.map((_, at) => ((at * (Math.sqrt(5) - 1)) / 2) % 1));
  return moved.map((value, at) => value + IRREGULAR * (spread[at] ?? 0));
}

/** Values minus their mean, scaled to a length of 1; all 0 where they are equal. */
function centredUnit(values: Float64Array): Float64Array {
  const moved = centred(values);
  const most = moved.reduce((highest, value) => Math.max(highest, Math.abs(value)), 0);
  // Squares of very small values would be 0; and the rounding error of the mean grows with them.
  const scaled = centred(moved.map((value) => (most === 0 ? 0 : value / most)));
  const length = norm(scaled);
  return scaled.map((value) => (length === 0 ? 0 : value / length));
}

function centred(values: Float64Array): Float64Array {
  const centre = meanOf(values);
  return values.map((value) => value - centre);
}

interface Eigenpair {
  readonly value: number;
  readonly vector: readonly number[];
}

/** For a symmetric tridiagonal matrix: the largest eigenvalue by bisection, its vector of length 1 by inverse iteration. */
function leadingEigenpair(diagonal: readonly number[], beside: readonly number[]): Eigenpair {
  const reach = diagonal.map((value, at) => [value, (beside[at - 1] ?? 0) + (at < diagonal.length - 1 ? (beside[at] ?? 0) : 0)] as const);
  let low = Math.min(...reach.map(([value, radius]) => value - radius));
  let high = Math.max(...reach.map(([value, radius]) => value + radius));
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (diagonal.length === 1 || size === 0) return { value: high, vector: diagonal.map((_, at) => (at === 0 ? 1 : 0)) };
  while (high - low > size * 1e-15) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (isAboveAll(middle, diagonal, beside)) high = middle;
    else low = middle;
  }
  const shifted = diagonal.map((_, row) =>
    diagonal.map((value, column) => {
      if (row === column) return value - high - size * 1e-14;
      return Math.abs(row - column) === 1 ? (beside[Math.min(row, column)] ?? 0) : 0;
    }),
  );
  let vector: readonly number[] = diagonal.map(() => 1);
  for (let pass = 0; pass < 3; pass += 1) {
    const solved = solveLinear(shifted, vector);
    const length = norm(solved);
    vector = solved.map((value) => value / length);
  }
  return { value: high, vector };
}

/** Whether a number is above every eigenvalue: the pivots of the matrix minus it are all negative (Sylvester). */
function isAboveAll(number: number, diagonal: readonly number[], beside: readonly number[]): boolean {
  let pivot = -1;
  for (const [at, value] of diagonal.entries()) {
    pivot = value - number - (at === 0 ? 0 : (beside[at - 1] ?? 0) ** 2 / pivot);
    if (!(pivot < 0)) return false;
  }
  return true;
}

function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

const norm = (values: ArrayLike<number>): number => Math.sqrt(dot(values, values));

/** Adds a multiple of a vector to another in place. */
function addTimes(to: Float64Array, factor: number, vector: Float64Array): void {
  for (let at = 0; at < to.length; at += 1) to[at] = (to[at] ?? 0) + factor * (vector[at] ?? 0);
}
