import { type LearntScorer, MOST_SCORER_WORDS, type ScorerFeature } from "@/solver/gates/gateDocument";
import { type AnswerWords, scorerProbability } from "@/solver/gates/gates";
import { mixSeed } from "@/solver/numeric/random";
import { type CrossFit, foldsOf } from "./crossFitted";
import { type PenalisedHead, penalisedHead } from "./penalisedHead";
import { scorerMatrix, type TextColumns, textColumns, weighedWords } from "./scorerColumns";

/** Answers of one model with known quality, as a scorer reads them. */
export interface ScorerRows {
  readonly features: readonly ScorerFeature[];
  /** By answer, parallel to the features; null where the answer does not have one. */
  readonly facts: readonly (readonly (number | null)[])[];
  /** By answer: of prompt and answer; left out where no texts are stored. */
  readonly words?: readonly AnswerWords[];
  /** By answer, 0..100: of hand labels, or of a judge where there are none. */
  readonly labels: ArrayLike<number>;
}

/** Bound on a bias: a share of right answers of one in two billion, where labels are all the same. */
const MOST_BIAS = 20;

/**
 * How much words may weigh against facts: the penalty is the same for all columns, and a fact has a deviation of 1 where the words of a text
 * together have length 1.
 */
const WORD_SCALES = [1, 4];

/**
 * Rows on which penalty and word scale are chosen at most, where there are words: a cross-fit chooses them for every fold, and on thousands of
 * long texts that takes minutes.
 */
const MOST_CHOOSING_TEXTS = 600;

/**
 * Learns a scorer: logistic regression with L2 on an answer's facts, each at a deviation of 1, and on hashed TF-IDF of 1-2-grams of prompt and
 * answer. It has the place of FrugalGPT's generation scoring function (section 3). The penalty, and how much words weigh, are those of the least
 * log loss in cross-validation. Words are left out unless they lower it by more than one standard error (the rule of Breiman et al.,
 * Classification and Regression Trees, 1984): a policy is smaller without them. The same rows and seed give the same scorer.
 *
 * @throws RangeError without answers or features.
 */
export function trainScorer({ features, facts, labels, words }: ScorerRows, seed: number): LearntScorer {
  if (facts.length === 0 || features.length === 0) throw new RangeError("A scorer needs labelled answers and at least one feature");
  const moments = features.map((_, column) => momentsOf(facts.flatMap((row) => row[column] ?? [])));
  const known = facts.map((row) => moments.map(({ mean, scale }, column) => ((row[column] ?? mean) - mean) / scale));
  const right = Float32Array.from({ length: facts.length }, (_, row) => (labels[row] ?? 0) / 100);
  const headOf = (texts: readonly TextColumns[], scale: number) => ({
    scale,
    head: penalisedHead(scorerMatrix(known, texts, scale), right, seed, words && MOST_CHOOSING_TEXTS),
  });
  const learnt = ({ bias, weights }: PenalisedHead): LearntScorer => ({
    bias: Math.max(-MOST_BIAS, Math.min(MOST_BIAS, bias)),
    weights: features.map((feature, column) => ({ feature, ...(moments[column] ?? momentsOf([])), weight: weights[column] ?? 0 })),
  });
  const bare = headOf([], 0);
  if (words === undefined) return learnt(bare.head);
  const prompt = textColumns(
    words.map((each) => each.prompt),
    MOST_SCORER_WORDS,
  );
  const answer = textColumns(
    words.map((each) => each.answer),
    MOST_SCORER_WORDS,
  );
  const best = WORD_SCALES.map((scale) => headOf([prompt, answer], scale)).reduce((a, b) => (gainOf(a.head, b.head).mean > 0 ? b : a));
  const gain = gainOf(bare.head, best.head);
  if (!(gain.mean > gain.standardError)) return learnt(bare.head);
  const weights = best.head.weights.map((weight) => best.scale * weight);
  const [from, to] = [features.length, features.length + prompt.space.buckets.length];
  return {
    ...learnt(best.head),
    words: { prompt: weighedWords(prompt.space, weights.subarray(from, to)), answer: weighedWords(answer.space, weights.subarray(to)) },
  };
}

/** How much less log loss a head has than another one on the same rows, on average. */
function gainOf(
  { losses: before }: PenalisedHead,
  { losses: after }: PenalisedHead,
): { readonly mean: number; readonly standardError: number } {
  const gains = before.map((loss, row) => loss - (after[row] ?? 0));
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  const square = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0);
  return { mean, standardError: Math.sqrt(square / (gains.length - 1) / gains.length) };
}

/**
 * Scores, 0..100, each by a scorer that is trained on the other folds only, so that an answer's own label does not influence its score:
 * what a calibration of the scorer is fitted to.
 *
 * @param onFold called after each fold.
 * @throws RangeError below 2 answers or 2 folds.
 */
export function crossFittedScores(rows: ScorerRows, fit: CrossFit, onFold: () => void = () => undefined): Float64Array {
  const scores = new Float64Array(rows.facts.length);
  for (const [fold, left] of foldsOf(rows.facts.length, fit).entries()) {
    const isLeft = new Set(left);
    const learnt = [...rows.facts.keys()].filter((row) => !isLeft.has(row));
    const scorer = trainScorer(pickRows(rows, learnt), mixSeed(fit.seed, `scorer, fold ${fold}`));
    const found = scoresOf(scorer, pickRows(rows, [...left]));
    for (const [at, row] of left.entries()) scores[row] = found[at] ?? 0;
    onFold();
  }
  return scores;
}

/**
 * Scores, 0..100, of answers by a learnt scorer.
 *
 * @throws RangeError where it reads words and the rows have none.
 */
export function scoresOf(scorer: LearntScorer, { features, facts, words }: Omit<ScorerRows, "labels">): Float64Array {
  const column = new Map(features.map((feature, at) => [feature, at]));
  return Float64Array.from(facts, (row, at) => {
    const answer = {
      factOf: (feature: ScorerFeature) => row[column.get(feature) ?? -1] ?? null,
      words() {
        const own = words?.[at];
        if (own === undefined) throw new RangeError("The scorer reads words of prompts and answers, and these rows have none");
        return own;
      },
    };
    return 100 * scorerProbability(scorer, answer);
  });
}

/** Parts of a table's rows: those that a scorer is trained on, and the others. */
interface ScorerSplit {
  readonly planning: Int32Array;
  readonly heldOut: Int32Array;
}

interface ScoringOfTable {
  readonly split: ScorerSplit;
  readonly seed: number;
  /** Trained on all planning rows; left out: it is trained here. */
  readonly scorer?: LearntScorer;
  /** Called after each of the `SCORER_FOLDS` scorers that are trained for the planning rows. */
  readonly onFold?: () => void;
}

/** Scorers that are trained for the scores of a table's planning rows. */
export const SCORER_FOLDS = 5;

/**
 * Scores, 0..100, of every answer of a table, none by a scorer that has seen its label: those of planning rows are cross-fitted, the others by
 * the scorer itself.
 */
export function scorerScores(rowsOf: (rows: Int32Array) => ScorerRows, { split, seed, scorer, onFold }: ScoringOfTable): Float64Array {
  const { planning, heldOut } = split;
  const learnt = rowsOf(planning);
  const scores = new Float64Array(planning.length + heldOut.length);
  for (const [at, score] of crossFittedScores(learnt, { folds: SCORER_FOLDS, seed }, onFold).entries()) scores[planning[at] ?? 0] = score;
  const fresh = scoresOf(scorer ?? trainScorer(learnt, seed), rowsOf(heldOut));
  for (const [at, score] of fresh.entries()) scores[heldOut[at] ?? 0] = score;
  return scores;
}

const pickRows = ({ features, facts, labels, words }: ScorerRows, rows: readonly number[]): ScorerRows => ({
  features,
  facts: rows.map((row) => facts[row] ?? []),
  ...(words === undefined ? {} : { words: rows.flatMap((row) => words[row] ?? []) }),
  labels: rows.map((row) => labels[row] ?? 0),
});

/** Mean and deviation; a feature that is the same everywhere, or unknown, gets a scale of 1 and so no weight. */
function momentsOf(values: readonly number[]): { readonly mean: number; readonly scale: number } {
  if (values.length === 0) return { mean: 0, scale: 1 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return { mean, scale: deviation > 1e-9 * Math.max(1, Math.abs(mean)) ? deviation : 1 };
}
