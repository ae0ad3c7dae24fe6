import { type RowProducts, timesProducts } from "@/solver/numeric/rowProducts";
import { type SparseMatrix, timesTransposed } from "@/solver/numeric/sparseMatrix";
import { ARRIVED, GRADIENT_STEPS, type LogisticHead, logLoss, NEWTON_STEPS, sigmoid } from "./logistic";

/**
 * Weights as a sum of rows, and a bias. The weights of a penalised fit are such a sum (the representer theorem), and so is every step of the
 * search that begins at 0: Newton's method and conjugate gradients then need the products of rows with one another alone.
 */
interface RowWeights {
  /** By row: what it is multiplied by in the sum. */
  readonly byRow: Float64Array;
  /** The products of the sum with each row. */
  readonly products: Float64Array;
  readonly bias: number;
}

/**
 * What `fitLogistic` finds, by the same steps, for rows that are few and long: a step costs the square of the number of rows and not the
 * length of all rows.
 *
 * @param products of the matrix's rows; of use to the fits for several penalties.
 */
export function fitLongRows(
  matrix: SparseMatrix,
  products: RowProducts,
  { right, penalty }: { readonly right: ArrayLike<number>; readonly penalty: number },
): LogisticHead {
  const { rows } = matrix;
  const zero = new Float64Array(rows);
  let point: RowWeights = { byRow: zero, products: zero, bias: 0 };
  const lossAt = (at: RowWeights): number => {
    let [sum, square] = [0, 0];
    for (let row = 0; row < rows; row++) {
      sum += logLoss((at.products[row] ?? 0) + at.bias, right[row] ?? 0);
      square += (at.byRow[row] ?? 0) * (at.products[row] ?? 0);
    }
    return sum / rows + (penalty / 2) * square;
  };
  let loss = lossAt(point);
  for (let step = 0; step < NEWTON_STEPS; step++) {
    const chances = point.products.map((product) => sigmoid(product + point.bias));
    const errors = chances.map((chance, row) => (chance - (right[row] ?? 0)) / rows);
    const byRow = errors.map((error, row) => error + penalty * (point.byRow[row] ?? 0));
    const gradient = { byRow, products: timesProducts(products, byRow), bias: sumOf(errors) };
    const norm = Math.sqrt(inner(gradient, gradient));
    if (norm < ARRIVED) break;
    const curvature = chances.map((chance) => (chance * (1 - chance)) / rows + 1e-12);
    const direction = solveNewton(gradient, norm, { products, curvature, penalty });
    let [size, moved] = [1, point];
    for (; size > 1e-6; size /= 2) {
      moved = plus(point, -size, direction);
      if (lossAt(moved) < loss) break;
    }
    const after = lossAt(moved);
    if (!(after < loss)) break;
    point = moved;
    loss = after;
  }
  return { bias: point.bias, weights: timesTransposed(matrix, point.byRow, 1) };
}

/** Conjugate gradients, with a precision relative to the remaining distance. */
function solveNewton(
  gradient: RowWeights,
  norm: number,
  { products, curvature, penalty }: { readonly products: RowProducts; readonly curvature: Float64Array; readonly penalty: number },
): RowWeights {
  const zero = new Float64Array(curvature.length);
  let solution: RowWeights = { byRow: zero, products: zero, bias: 0 };
  let residual = gradient;
  let direction = gradient;
  let square = inner(residual, residual);
  const enough = (Math.min(0.1, norm) * norm) ** 2;
  for (let step = 0; step < GRADIENT_STEPS && square > enough; step++) {
    const { bias } = direction;
    const bent = direction.products.map((product, row) => (curvature[row] ?? 0) * (product + bias));
    const byRow = bent.map((value, row) => value + penalty * (direction.byRow[row] ?? 0));
    const image = { byRow, products: timesProducts(products, byRow), bias: sumOf(bent) };
    const along = square / inner(direction, image);
    solution = plus(solution, along, direction);
    residual = plus(residual, -along, image);
    const next = inner(residual, residual);
    direction = plus(residual, next / square, direction);
    square = next;
  }
  return solution;
}

/** The inner product of two weights, bias included. */
function inner(one: RowWeights, other: RowWeights): number {
  let sum = one.bias * other.bias;
  for (let row = 0; row < one.byRow.length; row++) sum += (one.byRow[row] ?? 0) * (other.products[row] ?? 0);
  return sum;
}

/** `one + factor * other`. */
function plus(one: RowWeights, factor: number, other: RowWeights): RowWeights {
  const byRow = new Float64Array(one.byRow.length);
  const products = new Float64Array(one.byRow.length);
  for (let row = 0; row < byRow.length; row++) {
    byRow[row] = (one.byRow[row] ?? 0) + factor * (other.byRow[row] ?? 0);
    products[row] = (one.products[row] ?? 0) + factor * (other.products[row] ?? 0);
  }
  return { byRow, products, bias: one.bias + factor * other.bias };
}

const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);
