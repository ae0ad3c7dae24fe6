import { standardError } from "@/solver/numeric/interval";
import { normalQuantile } from "@/solver/numeric/normal";
import { seededRandom } from "@/solver/numeric/random";

/** Samples replayed to find the critical value; its own error is then about 0.04. */
const REPLAYS = 1000;

/** Floors tried, evenly over the qualities of the family. */
const FLOORS = 16;

/** Prompts that enter the correlations; more change the critical value by less than its own error. */
const CORRELATION_PROMPTS = 4000;

/** One routing of the family a planner picks from. */
export interface Pickable {
  /** Label of the accepted answer per prompt, 0..100; the same prompts in the same order for all. */
  readonly accepted: Float64Array;
  readonly quality: number;
  /** The planner's criterion among routings that meet a floor: the lowest is picked first. */
  readonly cost: number;
}

/**
 * The factor z by which standard errors are multiplied so that, for any floor, the probability of a planner picking a
 * routing that truly misses it is at most 1 - confidence. The planner picks the cheapest routing with `quality - z * error >= floor`.
 *
 * A bound for one routing named in advance (z = 1.28 at 90 %) does not guarantee this: among many routings the planner prefers those
 * that were lucky on the sample, the winner's curse. A bound for all routings at once (about 2.2 for a ladder of three)
 * guarantees it and overshoots: on the Llama 3.1 ladder a floor of 85 cost a p95 of 20 s where this bound needs 16 s. So the
 * picking itself is simulated: the sample's means are taken as the truth, errors are drawn with the covariance of the sample (Gaussian
 * multipliers), and z is the least at which no floor is missed too often: a bound calibrated by resampling (Efron and
 * Tibshirani, An Introduction to the Bootstrap, 1993, chapter 18).
 *
 * The guarantee is about the population that prompts are drawn from, not about the mean of another sample. At tight floors the mean
 * of 636 held-out prompts of that ladder fell below the floor in 5 of 20 to 15 of 50 splits of its table. Such a mean has its own
 * standard error of 1.4 in addition to the 0.9 of the planning prompts, so a bound that holds for the population in 90 % is
 * expected to be above it in about 22 %. Splits of one table are not independent: these figures show no more than that.
 *
 * Floors are tried on a grid, which may be far from every routing of a small family: never less than the z of one routing named in advance.
 *
 * @param family may be a coarse grid: neighbours in threshold are nearly the same routing.
 */
export function selectionCritical(
  family: readonly Pickable[],
  { confidence, seed }: { readonly confidence: number; readonly seed: number },
): number {
  const cheapestFirst = [...family].sort((a, b) => a.cost - b.cost);
  const quality = Float64Array.from(cheapestFirst, (one) => one.quality);
  const error = Float64Array.from(cheapestFirst, (one) => standardError(one.accepted));
  const replayed = replays(cheapestFirst, { quality, error, seed });
  const lowest = Math.min(...quality);
  const highest = Math.max(...quality) + Math.max(...error);
  const floors = Array.from({ length: FLOORS }, (_, index) => lowest + ((index + 1) * (highest - lowest)) / FLOORS);
  const missedTooOften = (z: number): boolean =>
    floors.some((floor) => {
      let missed = 0;
      for (const seen of replayed) {
        for (let index = 0; index < seen.length; index += 1) {
          if ((seen[index] ?? 0) - z * (error[index] ?? 0) < floor) continue;
          if ((quality[index] ?? 0) < floor) missed += 1;
          break;
        }
      }
      return missed > (1 - confidence) * replayed.length;
    });
  let low = 0;
  let high = 6;
  for (let step = 0; step < 9; step += 1) {
    const middle = (low + high) / 2;
    if (missedTooOften(middle)) low = middle;
    else high = middle;
  }
  // First-order step from the normal to Student's t, for samples of a few dozen prompts.
  const prompts = family[0]?.accepted.length ?? 1;
  const critical = Math.max(high, normalQuantile(confidence));
  return critical * (1 + (critical * critical + 1) / (4 * prompts));
}

/** Mean qualities as other samples of the same size would show them. */
function replays(
  family: readonly Pickable[],
  { quality, error, seed }: { readonly quality: Float64Array; readonly error: Float64Array; readonly seed: number },
): Float64Array[] {
  const factor = cholesky(correlations(family.map((one) => standardised(one.accepted))));
  const random = seededRandom(seed);
  const noise = new Float64Array(family.length);
  return Array.from({ length: REPLAYS }, () => {
    for (let k = 0; k < noise.length; k += 1) noise[k] = random.normal();
    return quality.map((centre, row) => {
      const weights = factor[row] ?? noise;
      let value = 0;
      for (let k = 0; k <= row; k += 1) value += (weights[k] ?? 0) * (noise[k] ?? 0);
      return centre + (error[row] ?? 0) * value;
    });
  });
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

/** Lower Cholesky factor of a correlation matrix given by its lower half; routings that repeat earlier ones get no independent noise. */
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
