import { quantile } from "../numeric/quantile";
import { seededRandom } from "../numeric/random";

/** Gaussian draws behind the critical value; its own error is then about 0.02. */
const DRAWS = 1000;

/** Prompts that enter the correlations; more change the critical value by less than its own error. */
const CORRELATION_PROMPTS = 4000;

/**
 * The factor z by which standard errors are multiplied so that `quality - z * error` bounds the true mean quality of every
 * routing of a family from below, all at once, with the given confidence.
 *
 * Why all at once: a planner picks the cheapest routing whose bound meets the floor, and prefers those that were lucky on the
 * sample. A bound that holds for one routing named in advance (z = 1.28 at 90 %) is then missed too often. A bound
 * that holds for all routings together holds for the picked one, whatever the floor. Routings answer the same prompts, so their
 * errors are correlated and z stays far below a Bonferroni correction: it is the quantile of the largest coordinate of a
 * Gaussian vector with the correlations of the sample (the studentised sup-t band; Montiel Olea and
 * Plagborg-Møller, 2019). The family may be a coarse grid: neighbours in threshold are nearly one coordinate.
 *
 * @param accepted labels of accepted answers per routing of the family, over the same prompts in the same order.
 */
export function simultaneousCritical(
  accepted: readonly Float64Array[],
  { confidence, seed }: { readonly confidence: number; readonly seed: number },
): number {
  const factor = cholesky(correlations(accepted.map(standardised)));
  const random = seededRandom(seed);
  const size = accepted.length;
  const noise = new Float64Array(size);
  const largest = new Float64Array(DRAWS);
  for (let draw = 0; draw < DRAWS; draw += 1) {
    for (let k = 0; k < size; k += 1) noise[k] = random.normal();
    let most = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < size; row += 1) {
      const weights = factor[row] ?? noise;
      let value = 0;
      for (let k = 0; k <= row; k += 1) value += (weights[k] ?? 0) * (noise[k] ?? 0);
      if (value > most) most = value;
    }
    largest[draw] = most;
  }
  const z = quantile(largest, confidence);
  // First-order step from the normal to Student's t, for samples of a few dozen prompts.
  const prompts = accepted[0]?.length ?? 1;
  return z * (1 + (z * z + 1) / (4 * prompts));
}

/**
 * Standard error of the mean of labels in 0..100. Two made-up labels, the best and the worst possible, join the variance: a
 * sample of right answers only does not prove that none is ever wrong.
 */
export function standardError(accepted: Float64Array): number {
  const n = accepted.length;
  let sum = 0;
  for (const label of accepted) sum += label;
  const centre = sum / n;
  let squares = centre * centre + (100 - centre) * (100 - centre);
  for (const label of accepted) squares += (label - centre) * (label - centre);
  return Math.sqrt(squares / (n + 1) / n);
}

/** The lower bound of a mean quality in 0..100. */
export function qualityLowerBound(routed: { readonly accepted: Float64Array; readonly quality: number }, critical: number): number {
  return Math.max(0, routed.quality - critical * standardError(routed.accepted));
}

function standardised(accepted: Float64Array): Float64Array {
  const stride = Math.max(1, Math.ceil(accepted.length / CORRELATION_PROMPTS));
  const values = accepted.filter((_, index) => index % stride === 0);
  const centre = values.reduce((sum, value) => sum + value, 0) / values.length;
  const length = Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0));
  return length > 0 ? values.map((value) => (value - centre) / length) : values.fill(0);
}

function correlations(columns: readonly Float64Array[]): Float64Array[] {
  return columns.map((column, row) => {
    const line = new Float64Array(row + 1);
    for (let other = 0; other < row; other += 1) {
      const against = columns[other] ?? column;
      let product = 0;
      for (let i = 0; i < column.length; i += 1) product += (column[i] ?? 0) * (against[i] ?? 0);
      line[other] = product;
    }
    line[row] = 1;
    return line;
  });
}

/** Lower Cholesky factor of a correlation matrix given by its lower half; routings that repeat earlier ones get no own noise. */
function cholesky(lower: readonly Float64Array[]): Float64Array[] {
  const negligible = 1e-9;
  const factor: Float64Array[] = [];
  for (const [row, line] of lower.entries()) {
    const own = new Float64Array(row + 1);
    for (let column = 0; column <= row; column += 1) {
      const against = column === row ? own : (factor[column] ?? own);
      let rest = line[column] ?? 0;
      for (let k = 0; k < column; k += 1) rest -= (own[k] ?? 0) * (against[k] ?? 0);
      const pivot = against[column] ?? 0;
      if (column === row) own[column] = rest > negligible ? Math.sqrt(rest) : 0;
      else own[column] = pivot > 0 ? rest / pivot : 0;
    }
    factor.push(own);
  }
  return factor;
}
