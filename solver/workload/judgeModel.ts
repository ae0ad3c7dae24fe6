import { normalCdf, normalQuantile } from "@/solver/numeric/normal";
import { mixSeed, seededRandom } from "@/solver/numeric/random";

/** Assumed reliability of an unmeasured judge: an ordinary LLM judge on right or wrong answers. */
export const DEFAULT_JUDGE_AUC = 0.8;

export interface JudgeModel {
  /**
   * Probability, 0.5..1, that of two answers with different labels the better one gets the higher score (ties count half). On labels that
   * are only right or wrong that is the area under the ROC curve. 1 is the oracle, 0.5 is random.
   */
  readonly auc: number;
  readonly seed: number;
}

/**
 * Models a judge that was not measured: a seeded noisy reading of each label, integer 0..100.
 *
 * The binormal model of ROC analysis: an answer of label q gives the signal x = d * (q / 100 - 1/2) + noise, with
 * standard normal noise, and is scored 100 * Phi(x). Of two answers that differ by D points the better one is scored
 * higher with probability Phi(d * D / 100 / sqrt 2); d is chosen so that the mean of that probability over all pairs of different labels
 * is `auc`. For right or wrong labels, d = sqrt 2 * Phi^-1(auc). A random judge's scores are then uniform, whatever the label;
 * the oracle's are the labels, rounded. Errors are independent between answers; a real judge's are not quite.
 *
 * @param label quality that counts, 0..100, of all answers the judge will see (every model's: it is one judge).
 * @returns scores parallel to `label`.
 * @throws RangeError on an AUC outside 0.5..1.
 */
export function modelledScores(label: Float64Array, { auc, seed }: JudgeModel): Float64Array {
  if (!(auc >= 0.5 && auc <= 1)) throw new RangeError(`A judge's AUC lies in 0.5 (a coin) to 1 (the oracle), found ${auc}`);
  if (auc === 1) return label.map((value) => Math.round(value));
  const random = seededRandom(mixSeed(seed, "judge"));
  const separation = separationFor(label, auc);
  return label.map((value) => Math.round(100 * normalCdf(separation * (value / 100 - 0.5) + random.normal())));
}

/** Number of bisection steps for d: 2^-50 of the bracket is below the resolution of a score of 0..100. */
const BISECTION_STEPS = 50;

/** The d of the model above for these labels; graded labels have no closed form. */
function separationFor(label: Float64Array, auc: number): number {
  const rightOrWrong = Math.SQRT2 * normalQuantile(auc);
  const pairs = pairsByDistance(label);
  const pairCount = pairs.reduce((sum, count) => sum + count, 0);
  if (pairCount === 0) return rightOrWrong;
  const concordance = (d: number): number =>
    pairs.reduce((sum, count, distance) => sum + count * normalCdf((d * distance) / 100 / Math.SQRT2), 0) / pairCount;
  // Pairs are at most 100 and at least 1 point apart, so d is between the right-or-wrong value and 100 times it.
  let low = rightOrWrong;
  let high = 100 * rightOrWrong;
  for (let step = 0; step < BISECTION_STEPS; step++) {
    const middle = (low + high) / 2;
    if (concordance(middle) < auc) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Numbers of pairs of answers whose labels differ by 1..100 points; labels are rounded to whole points, as scores are. */
function pairsByDistance(label: Float64Array): Float64Array {
  const answers = new Float64Array(101);
  for (const value of label) {
    const grade = Math.round(value);
    answers[grade] = (answers[grade] ?? 0) + 1;
  }
  const pairs = new Float64Array(101);
  for (let worse = 0; worse < 100; worse++) {
    for (let better = worse + 1; better <= 100; better++) {
      pairs[better - worse] = (pairs[better - worse] ?? 0) + (answers[worse] ?? 0) * (answers[better] ?? 0);
    }
  }
  return pairs;
}
