/** The result of a fit. */
export interface LeastSquaresFit {
  readonly parameters: readonly number[];
  /** Sum of squared residuals. */
  readonly cost: number;
  /** Standard error of each parameter, from the curvature at the result; Infinity where the residuals do not determine it. */
  readonly deviations: readonly number[];
}

const MAX_ITERATIONS = 25;
/** Relative gain below which another iteration is not worth its evaluations. */
const CONVERGED = 3e-4;
const DAMPING_RISES = 8;
/** Step of the forward differences for smooth residuals. */
const SMOOTH_DIFFERENCE = 1e-4;

/**
 * Parameters that minimise the sum of squared residuals (Levenberg-Marquardt with Marquardt's scaling; Jacobian by forward
 * differences, so parameters should be of order one, such as logarithms). Deterministic; never worse than the start.
 *
 * @param residuals one number per observation; always the same count.
 * @param difference step of the forward differences; wide for residuals that jump, such as those of a simulation.
 */
export function leastSquares(
  residuals: (parameters: readonly number[]) => ArrayLike<number>,
  start: readonly number[],
  difference: number = SMOOTH_DIFFERENCE,
): LeastSquaresFit {
  let parameters = [...start];
  let current = Float64Array.from(residuals(parameters));
  let cost = sumOfSquares(current);
  let damping = 1e-2;
  for (let iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
    const { normal, gradient } = normalEquations(residuals, { parameters, current, difference });
    let gain = 0;
    for (let rise = 0; rise < DAMPING_RISES && gain === 0; rise++) {
      const damped = normal.map((row, i) => row.map((value, j) => (i === j ? value * (1 + damping) + 1e-12 : value)));
      const step = solveLinear(damped, gradient);
      const tried = parameters.map((value, index) => value - (step[index] ?? 0));
      const triedResiduals = Float64Array.from(residuals(tried));
      const triedCost = sumOfSquares(triedResiduals);
      if (triedCost < cost) {
        gain = (cost - triedCost) / cost;
        parameters = tried;
        current = triedResiduals;
        cost = triedCost;
        damping = Math.max(damping / 5, 1e-9);
      } else {
        damping *= 4;
      }
    }
    if (gain < CONVERGED) break;
  }
  const { normal } = normalEquations(residuals, { parameters, current, difference });
  return { parameters, cost, deviations: standardErrors(normal, cost / Math.max(1, current.length - parameters.length)) };
}

/**
 * A residual that grows like its square root beyond `scale`: one wrong observation then has no more influence than a few right ones.
 * (The square of it is the pseudo-Huber family's linear growth.)
 */
export const robust = (residual: number, scale: number): number => residual / Math.sqrt(1 + Math.abs(residual) / scale);

/** Solution of a small dense linear system by elimination with row pivoting. Rows are not changed. */
export function solveLinear(matrix: readonly (readonly number[])[], right: readonly number[]): readonly number[] {
  const rows = matrix.map((row, index) => Float64Array.from([...row, right[index] ?? 0]));
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(rows[row]?.[column] ?? 0) > Math.abs(rows[pivot]?.[column] ?? 0)) pivot = row;
    }
    const [top, other] = [rows[column], rows[pivot]];
    if (top === undefined || other === undefined) break;
    rows[column] = other;
    rows[pivot] = top;
    for (let row = column + 1; row < size; row++) {
      const below = rows[row];
      if (below === undefined) continue;
      const factor = (below[column] ?? 0) / (other[column] ?? 1);
      for (let at = column; at <= size; at++) below[at] = (below[at] ?? 0) - factor * (other[at] ?? 0);
    }
  }
  const solution = new Float64Array(size);
  for (let row = size - 1; row >= 0; row--) {
    const line = rows[row];
    let sum = line?.[size] ?? 0;
    for (let column = row + 1; column < size; column++) sum -= (line?.[column] ?? 0) * (solution[column] ?? 0);
    solution[row] = sum / (line?.[row] ?? 1);
  }
  return [...solution];
}

/** Share of the largest curvature that is added to all: directions with less curvature count as undetermined. */
const RIDGE = 1e-9;

/** Square roots of the diagonal of `variance * (J'J)^-1`. */
function standardErrors(normal: readonly (readonly number[])[], variance: number): number[] {
  const ridge = RIDGE * Math.max(...normal.map((row, index) => row[index] ?? 0));
  const ridged = normal.map((row, i) => row.map((value, j) => (i === j ? value + ridge : value)));
  return ridged.map((_, index) => {
    const inverse =
      solveLinear(
        ridged,
        ridged.map((__, other) => (other === index ? 1 : 0)),
      )[index] ?? Number.NaN;
    return inverse > 0 && inverse < 0.5 / ridge ? Math.sqrt(variance * inverse) : Number.POSITIVE_INFINITY;
  });
}

/** J'J and J'r at the parameters. */
function normalEquations(
  residuals: (parameters: readonly number[]) => ArrayLike<number>,
  {
    parameters,
    current,
    difference,
  }: { readonly parameters: readonly number[]; readonly current: Float64Array; readonly difference: number },
): { normal: number[][]; gradient: number[] } {
  const jacobian = parameters.map((value, index) => {
    const moved = residuals(parameters.with(index, value + difference));
    return Float64Array.from(current, (before, at) => ((moved[at] ?? 0) - before) / difference);
  });
  const product = (a: Float64Array, b: Float64Array): number => {
    let sum = 0;
    for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
    return sum;
  };
  return {
    normal: jacobian.map((row) => jacobian.map((column) => product(row, column))),
    gradient: jacobian.map((row) => product(row, current)),
  };
}

function sumOfSquares(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value * value;
  return sum;
}
