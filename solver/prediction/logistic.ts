import { type SparseMatrix, times, timesTransposed } from "@/solver/numeric/sparseMatrix";

/** Probability that a row is right: 1 / (1 + exp(-(bias + weights . row))). */
export interface LogisticHead {
  readonly bias: number;
  readonly weights: Float64Array | Float32Array;
}

/** Most steps of Newton's method, and of conjugate gradients within one. */
export const NEWTON_STEPS = 30;
export const GRADIENT_STEPS = 60;
/** Norm of the gradient, per row, at which the fit has converged. */
export const ARRIVED = 1e-7;

/**
 * Logistic regression with L2 regularisation: minimises the mean log loss plus `penalty / 2` times the squared length of the weights (the
 * bias is not penalised), by Newton's method with conjugate gradients and halved steps. Deterministic.
 *
 * @param right parallel to the rows, 0..1.
 */
export function fitLogistic(matrix: SparseMatrix, right: ArrayLike<number>, penalty: number): LogisticHead {
  const { rows, columns } = matrix;
  let point: Float64Array = new Float64Array(columns + 1);
  let loss = lossAt(matrix, right, { penalty, point });
  for (let step = 0; step < NEWTON_STEPS; step++) {
    const chances = logits(matrix, point).map(sigmoid);
    const gradient = transposed(
      matrix,
      chances.map((chance, row) => (chance - (right[row] ?? 0)) / rows),
    );
    for (let at = 0; at < columns; at++) gradient[at] = (gradient[at] ?? 0) + penalty * (point[at] ?? 0);
    const norm = Math.sqrt(inner(gradient, gradient));
    if (norm < ARRIVED) break;
    const curvature = chances.map((chance) => (chance * (1 - chance)) / rows + 1e-12);
    const direction = solveNewton(gradient, norm, (vector) => {
      const along = logits(matrix, vector).map((value, row) => value * (curvature[row] ?? 0));
      const product = transposed(matrix, along);
      for (let at = 0; at < columns; at++) product[at] = (product[at] ?? 0) + penalty * (vector[at] ?? 0);
      return product;
    });
    let [size, moved] = [1, point];
    for (; size > 1e-6; size /= 2) {
      moved = point.map((value, at) => value - size * (direction[at] ?? 0));
      if (lossAt(matrix, right, { penalty, point: moved }) < loss) break;
    }
    const after = lossAt(matrix, right, { penalty, point: moved });
    if (!(after < loss)) break;
    point = moved;
    loss = after;
  }
  return { bias: point[columns] ?? 0, weights: point.slice(0, columns) };
}

export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

/** Weights and, last, the bias applied to every row. */
function logits(matrix: SparseMatrix, point: Float64Array): Float64Array {
  const bias = point[matrix.columns] ?? 0;
  return times(matrix, point, 1).map((value) => value + bias);
}

function transposed(matrix: SparseMatrix, byRow: Float64Array): Float64Array {
  const product = new Float64Array(matrix.columns + 1);
  product.set(timesTransposed(matrix, byRow, 1));
  product[matrix.columns] = byRow.reduce((sum, value) => sum + value, 0);
  return product;
}

function lossAt(
  matrix: SparseMatrix,
  right: ArrayLike<number>,
  { penalty, point }: { readonly penalty: number; readonly point: Float64Array },
): number {
  let sum = 0;
  for (const [row, logit] of logits(matrix, point).entries()) sum += logLoss(logit, right[row] ?? 0);
  const weights = point.subarray(0, matrix.columns);
  return sum / matrix.rows + (penalty / 2) * inner(weights, weights);
}

/** Log loss of a logit for an answer that is right with the given share. */
export const logLoss = (logit: number, right: number): number =>
  Math.max(logit, 0) + Math.log1p(Math.exp(-Math.abs(logit))) - right * logit;

/** Conjugate gradients, with a precision relative to the remaining distance. */
function solveNewton(gradient: Float64Array, norm: number, hessian: (vector: Float64Array) => Float64Array): Float64Array {
  const solution = new Float64Array(gradient.length);
  const residual = gradient.slice();
  let direction = gradient.slice();
  let square = inner(residual, residual);
  const enough = (Math.min(0.1, norm) * norm) ** 2;
  for (let step = 0; step < GRADIENT_STEPS && square > enough; step++) {
    const image = hessian(direction);
    const along = square / inner(direction, image);
    for (let at = 0; at < solution.length; at++) {
      solution[at] = (solution[at] ?? 0) + along * (direction[at] ?? 0);
      residual[at] = (residual[at] ?? 0) - along * (image[at] ?? 0);
    }
    const next = inner(residual, residual);
    const kept = next / square;
    direction = direction.map((value, at) => (residual[at] ?? 0) + kept * value);
    square = next;
  }
  return solution;
}

function inner(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/** Logits of every row by a head. */
export const headLogits = (matrix: SparseMatrix, { bias, weights }: LogisticHead): Float64Array =>
  times(matrix, weights, 1).map((value) => value + bias);
