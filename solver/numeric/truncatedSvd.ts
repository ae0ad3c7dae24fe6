import { seededRandom } from "./random";
import { type SparseMatrix, times, timesTransposed } from "./sparseMatrix";

/** The strongest directions of a matrix. */
export interface TruncatedSvd {
  /** Descending. */
  readonly singularValues: Float64Array;
  /** Right singular vectors, side by side: `right[column * singularValues.length + k]`. */
  readonly right: Float64Array;
}

/** Additional directions beyond those requested. */
const OVERSAMPLE = 10;

/** Number of power iterations: singular values of text fall slowly. */
const POWER_ROUNDS = 6;

/** Sweeps of Jacobi's rotations over a small symmetric matrix: a few suffice. */
const JACOBI_SWEEPS = 30;

/**
 * Truncated singular value decomposition by a randomised range finder with power iterations (Halko, Martinsson and Tropp, SIAM Review 53,
 * 2011, algorithms 4.4 and 5.1). The sign of each direction is set so that its largest entry is positive.
 *
 * @param dimensions number of directions; fewer are returned where the matrix has no more.
 */
export function truncatedSvd(matrix: SparseMatrix, dimensions: number, seed: number): TruncatedSvd {
  const width = Math.min(dimensions + OVERSAMPLE, matrix.rows, matrix.columns);
  const random = seededRandom(seed);
  let range = orthonormal(
    times(
      matrix,
      Float64Array.from({ length: matrix.columns * width }, () => random.normal()),
      width,
    ),
    width,
  );
  for (let round = 0; round < POWER_ROUNDS; round++) {
    range = orthonormal(times(matrix, orthonormal(timesTransposed(matrix, range, width), width), width), width);
  }
  // B = Q'A has few rows: its right singular vectors follow from B B'.
  const projected = timesTransposed(matrix, range, width);
  const { values, vectors } = symmetricEigen(gram(projected, width), width);
  const kept = values.filter((value, at) => at < dimensions && value > 1e-10 * (values[0] ?? 0)).length;
  const singularValues = Float64Array.from({ length: kept }, (_, at) => Math.sqrt(values[at] ?? 0));
  const right = new Float64Array(matrix.columns * kept);
  for (let column = 0; column < matrix.columns; column++) {
    for (let at = 0; at < kept; at++) {
      let sum = 0;
      for (let inner = 0; inner < width; inner++) sum += (projected[column * width + inner] ?? 0) * (vectors[inner * width + at] ?? 0);
      right[column * kept + at] = sum / (singularValues[at] ?? 1);
    }
  }
  settleSigns(right, kept);
  return { singularValues, right };
}

/** Columns made orthonormal by Gram and Schmidt's method, each taken twice; one that depends on those before it becomes zero. */
function orthonormal(block: Float64Array, width: number): Float64Array {
  const rows = block.length / width;
  for (let at = 0; at < width; at++) {
    const before = Math.sqrt(dot(block, width, at, at));
    for (let round = 0; round < 2; round++) {
      for (let other = 0; other < at; other++) {
        const along = dot(block, width, at, other);
        for (let row = 0; row < rows; row++) {
          block[row * width + at] = (block[row * width + at] ?? 0) - along * (block[row * width + other] ?? 0);
        }
      }
    }
    const length = Math.sqrt(dot(block, width, at, at));
    const factor = length > 1e-10 * before ? 1 / length : 0;
    for (let row = 0; row < rows; row++) block[row * width + at] = (block[row * width + at] ?? 0) * factor;
  }
  return block;
}

function dot(block: Float64Array, width: number, one: number, other: number): number {
  let sum = 0;
  for (let from = 0; from < block.length; from += width) sum += (block[from + one] ?? 0) * (block[from + other] ?? 0);
  return sum;
}

/** B' B, for B with `width` columns. */
function gram(block: Float64Array, width: number): Float64Array {
  const product = new Float64Array(width * width);
  for (let one = 0; one < width; one++) {
    for (let other = 0; other <= one; other++) {
      const sum = dot(block, width, one, other);
      product[one * width + other] = sum;
      product[other * width + one] = sum;
    }
  }
  return product;
}

/** Eigenvalues of a symmetric matrix, descending, and its eigenvectors as columns in their order, by Jacobi's cyclic rotations. */
export function symmetricEigen(matrix: Float64Array, size: number): { readonly values: Float64Array; readonly vectors: Float64Array } {
  const left = matrix.slice();
  const turned = new Float64Array(size * size);
  for (let at = 0; at < size; at++) turned[at * size + at] = 1;
  for (let sweep = 0; sweep < JACOBI_SWEEPS && offDiagonal(left, size) > 0; sweep++) {
    for (let p = 0; p < size - 1; p++) {
      for (let q = p + 1; q < size; q++) rotate(left, turned, size, { p, q });
    }
  }
  const order = Array.from({ length: size }, (_, at) => at).sort((a, b) => (left[b * size + b] ?? 0) - (left[a * size + a] ?? 0));
  const vectors = new Float64Array(size * size);
  for (const [to, from] of order.entries()) {
    for (let row = 0; row < size; row++) vectors[row * size + to] = turned[row * size + from] ?? 0;
  }
  return { values: Float64Array.from(order, (at) => left[at * size + at] ?? 0), vectors };
}

/** Largest entry off the diagonal relative to the largest on it, 0 where it is negligible. */
function offDiagonal(matrix: Float64Array, size: number): number {
  let [off, on] = [0, 0];
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const entry = Math.abs(matrix[row * size + column] ?? 0);
      if (row === column) on = Math.max(on, entry);
      else off = Math.max(off, entry);
    }
  }
  return off > 1e-14 * on ? off : 0;
}

/** Rotates rows and columns p and q so that their common entry becomes zero. */
function rotate(matrix: Float64Array, turned: Float64Array, size: number, { p, q }: { readonly p: number; readonly q: number }): void {
  const common = matrix[p * size + q] ?? 0;
  if (common === 0) return;
  const theta = ((matrix[q * size + q] ?? 0) - (matrix[p * size + p] ?? 0)) / (2 * common);
  const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const cosine = 1 / Math.hypot(tangent, 1);
  const sine = tangent * cosine;
  const turn = (block: Float64Array, one: number, other: number): void => {
    const [a, b] = [block[one] ?? 0, block[other] ?? 0];
    block[one] = cosine * a - sine * b;
    block[other] = sine * a + cosine * b;
  };
  for (let at = 0; at < size; at++) turn(matrix, at * size + p, at * size + q);
  for (let at = 0; at < size; at++) turn(matrix, p * size + at, q * size + at);
  for (let at = 0; at < size; at++) turn(turned, at * size + p, at * size + q);
}

function settleSigns(block: Float64Array, width: number): void {
  for (let at = 0; at < width; at++) {
    let largest = 0;
    for (let from = at; from < block.length; from += width) {
      if (Math.abs(block[from] ?? 0) > Math.abs(largest) * (1 + 1e-9)) largest = block[from] ?? 0;
    }
    if (largest >= 0) continue;
    for (let from = at; from < block.length; from += width) block[from] = -(block[from] ?? 0);
  }
}
