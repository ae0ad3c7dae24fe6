import { pairCounts } from "@/solver/judging/pairCounts";

/**
 * Kendall's tau distance of a predicted order to the true one: the share of pairs of unequal truth that are predicted in the wrong order,
 * predicted ties counted half. 0 is perfect, 0.5 is random or a constant prediction. In n log n.
 *
 * @returns NaN without two unequal truths.
 */
export function kendallTauDistance(predicted: ArrayLike<number>, truth: ArrayLike<number>): number {
  const { pairs, right } = pairCounts(Array.from(truth, (label, at) => ({ label, score: predicted[at] ?? 0 })));
  return 1 - sum(right) / sum(pairs);
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

/**
 * Average precision: the mean, over right answers, of the share of right ones among all that score as high or higher (the step-wise area
 * under the precision-recall curve; equal scores are taken together, so that their order does not matter). A random one is the share that
 * is right.
 *
 * @param right more than one half counts as right.
 * @returns NaN where nothing is right.
 */
export function averagePrecision(scores: ArrayLike<number>, right: ArrayLike<number>): number {
  const order = Int32Array.from({ length: scores.length }, (_, at) => at).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  let [hits, total, at] = [0, 0, 0];
  while (at < order.length) {
    const score = scores[order[at] ?? 0];
    let alike = 0;
    for (; at < order.length && scores[order[at] ?? 0] === score; at++) alike += (right[order[at] ?? 0] ?? 0) > 0.5 ? 1 : 0;
    hits += alike;
    total += (alike * hits) / at;
  }
  return total / hits;
}
