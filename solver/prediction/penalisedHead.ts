import { seededRandom } from "@/solver/numeric/random";
import { isLong, type RowProducts, rowProducts, takeProducts } from "@/solver/numeric/rowProducts";
import { shuffled } from "@/solver/numeric/shuffled";
import { type SparseMatrix, sparseOf, takeRows } from "@/solver/numeric/sparseMatrix";
import { fitLogistic, headLogits, type LogisticHead, logLoss } from "./logistic";
import { fitLongRows } from "./longRows";

/** Penalties tried. Columns have a deviation of 1; words together have length 1 per prompt. */
const PENALTIES = [1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001];

const FOLDS = 3;

/** Maximum number of rows for the selection of the penalty: the choice hardly changes with more. */
const MOST_CHOOSING_ROWS = 3000;

/** Keeps the slope finite where the logits separate right from wrong. */
const SLOPE_PENALTY = 1e-4;

export interface PenalisedHead extends LogisticHead {
  /**
   * Log loss of each row on which the penalty was chosen, by a head that was fitted without it; none with a single row. Rows are in one order for
   * the same number of rows and seed.
   */
  readonly losses: Float64Array;
}

/**
 * A calibrated head. For every penalty, heads are fitted without each fold of the rows in turn; their outputs for the fold are mapped
 * to the outcomes by a slope and a shift (Platt 1999: a penalised head is underconfident), and the penalty with the least resulting log
 * loss is used.
 *
 * @param most rows on which the penalty is chosen at most.
 */
export function penalisedHead(matrix: SparseMatrix, right: Float32Array, seed: number, most = MOST_CHOOSING_ROWS): PenalisedHead {
  const order = shuffled(matrix.rows, seededRandom(seed)).slice(0, most);
  const chosen = takeRows(matrix, order);
  const known = labelsOf(right, order);
  const products = isLong(chosen) ? rowProducts(chosen) : null;
  const folds = Array.from({ length: FOLDS }, (_, fold) => {
    const at = Int32Array.from(order.keys());
    const [learnt, left] = [at.filter((row) => row % FOLDS !== fold), at.filter((row) => row % FOLDS === fold)];
    const fit = fitterOf(chosen, products, learnt);
    return { fit, known: labelsOf(known, learnt), left: takeRows(chosen, left), asked: labelsOf(known, left) };
  }).filter((fold) => fold.known.length > 0 && fold.left.rows > 0);
  const asked = folds.flatMap((fold) => [...fold.asked]);
  if (asked.length === 0) return { ...fitLogistic(matrix, right, 1), losses: new Float64Array() };
  let best = { loss: Number.POSITIVE_INFINITY, losses: new Float64Array(), penalty: 1, slope: 1, shift: 0 };
  for (const penalty of PENALTIES) {
    const said = folds.flatMap(({ fit, known: labels, left }) => [...headLogits(left, fit(labels, penalty))]);
    const { slope, shift } = platt(said, asked);
    const losses = Float64Array.from(said, (logit, row) => logLoss(slope * logit + shift, asked[row] ?? 0));
    const loss = losses.reduce((sum, each) => sum + each, 0);
    if (loss < best.loss) best = { loss, losses, penalty, slope, shift };
  }
  const isWhole = products !== null && order.length === matrix.rows;
  const { bias, weights } = isWhole
    ? fitLongRows(chosen, products, { right: known, penalty: best.penalty })
    : fitLogistic(matrix, right, best.penalty);
  return {
    bias: best.slope * bias + best.shift,
    weights: weights.map((weight) => best.slope * weight),
    losses: best.losses,
  };
}

type Fit = (right: ArrayLike<number>, penalty: number) => LogisticHead;

/** Fits on some rows of a matrix. @param products of all of its rows, where they are few and long. */
function fitterOf(matrix: SparseMatrix, products: RowProducts | null, rows: Int32Array): Fit {
  const own = takeRows(matrix, rows);
  if (products === null) return (right, penalty) => fitLogistic(own, right, penalty);
  const taken = takeProducts(products, rows);
  return (right, penalty) => fitLongRows(own, taken, { right, penalty });
}

const labelsOf = (right: Float32Array, rows: Int32Array): Float32Array => Float32Array.from(rows, (row) => right[row] ?? 0);

/** Slope, at least 0, and shift that map logits to outcomes (Platt 1999). */
export function platt(logits: readonly number[], right: readonly number[]): { readonly slope: number; readonly shift: number } {
  const column = sparseOf(
    1,
    logits.map((logit) => ({ columns: [0], values: [logit] })),
  );
  const { bias, weights } = fitLogistic(column, right, SLOPE_PENALTY);
  const slope = weights[0] ?? 0;
  if (slope >= 0) return { slope, shift: bias };
  const share = right.reduce((sum, each) => sum + each, 0) / right.length;
  return { slope: 0, shift: Math.log(share / (1 - share)) };
}
