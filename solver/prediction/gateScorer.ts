import type { ScorerFeature } from "@/solver/gates/gateDocument";
import { type ScorerDocument, scorerProbability } from "@/solver/gates/gates";
import { mixSeed } from "@/solver/numeric/random";
import { type CrossFit, foldsOf } from "./crossFitted";
import { penalisedHead } from "./penalisedHead";
import { sparseOf } from "./sparseMatrix";

/** Answers of one model with known quality, as a scorer reads them. */
export interface ScorerRows {
  readonly features: readonly ScorerFeature[];
  /** By answer, parallel to the features; null where the answer does not have one. */
  readonly facts: readonly (readonly (number | null)[])[];
  /** By answer, 0..100: of hand labels, or of a judge where there are none. */
  readonly labels: ArrayLike<number>;
}

/** The part of a scorer that is learnt. */
export type LearntScorer = Pick<ScorerDocument, "bias" | "weights">;

/** Bound on a bias: a share of right answers of one in two billion, where labels are all the same. */
const MOST_BIAS = 20;

/**
 * Learns a length and probability scorer: logistic regression with L2 on an answer's facts, each at a deviation of 1. It has the place of
 * FrugalGPT's generation scoring function (section 3), which reads the words of prompt and answer; this one reads none. The same rows and
 * seed give the same scorer.
 *
 * @throws RangeError without answers or features.
 */
export function trainScorer({ features, facts, labels }: ScorerRows, seed: number): LearntScorer {
  if (facts.length === 0 || features.length === 0) throw new RangeError("A scorer needs labelled answers and at least one feature");
  const columns = features.map((_, column) => moments(facts.flatMap((row) => row[column] ?? [])));
  const matrix = sparseOf(
    features.length,
    facts.map((row) => ({
      columns: features.map((_, column) => column),
      values: columns.map(({ mean, scale }, column) => ((row[column] ?? mean) - mean) / scale),
    })),
  );
  const right = Float32Array.from({ length: facts.length }, (_, row) => (labels[row] ?? 0) / 100);
  const { bias, weights } = penalisedHead(matrix, right, seed);
  return {
    bias: Math.max(-MOST_BIAS, Math.min(MOST_BIAS, bias)),
    weights: features.map((feature, column) => ({
      feature,
      mean: columns[column]?.mean ?? 0,
      scale: columns[column]?.scale ?? 1,
      weight: weights[column] ?? 0,
    })),
  };
}

/**
 * Scores, 0..100, each by a scorer that is trained on the other folds only, so that an answer's own label does not influence its score:
 * what a calibration of the scorer is fitted to.
 *
 * @throws RangeError below 2 answers or 2 folds.
 */
export function crossFittedScores(rows: ScorerRows, fit: CrossFit): Float64Array {
  const scores = new Float64Array(rows.facts.length);
  for (const [fold, left] of foldsOf(rows.facts.length, fit).entries()) {
    const isLeft = new Set(left);
    const learnt = [...rows.facts.keys()].filter((row) => !isLeft.has(row));
    const scorer = trainScorer(pickRows(rows, learnt), mixSeed(fit.seed, `scorer, fold ${fold}`));
    const found = scoresOf(scorer, pickRows(rows, [...left]));
    for (const [at, row] of left.entries()) scores[row] = found[at] ?? 0;
  }
  return scores;
}

/** Scores, 0..100, of answers by a learnt length and probability scorer. */
export function scoresOf(scorer: LearntScorer, { features, facts }: Pick<ScorerRows, "features" | "facts">): Float64Array {
  const column = new Map(features.map((feature, at) => [feature, at]));
  return Float64Array.from(facts, (row) => 100 * scorerProbability(scorer, (feature) => row[column.get(feature) ?? -1] ?? null));
}

const pickRows = ({ features, facts, labels }: ScorerRows, rows: readonly number[]): ScorerRows => ({
  features,
  facts: rows.map((row) => facts[row] ?? []),
  labels: rows.map((row) => labels[row] ?? 0),
});

/** Mean and deviation; a feature that is the same everywhere, or unknown, gets a scale of 1 and so no weight. */
function moments(values: readonly number[]): { readonly mean: number; readonly scale: number } {
  if (values.length === 0) return { mean: 0, scale: 1 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return { mean, scale: deviation > 1e-9 * Math.max(1, Math.abs(mean)) ? deviation : 1 };
}
