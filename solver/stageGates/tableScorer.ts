import type { LearntScorer, ScorerFeature } from "@/solver/gates/gateDocument";
import { type AnswerWords, readsLogProbabilities, type ScorerDocument } from "@/solver/gates/gates";
import { mixSeed } from "@/solver/numeric/random";
import { canonicalJson } from "@/solver/plan/canonical";
import { type ScorerRows, scorerScores, trainScorer } from "@/solver/prediction/gateScorer";
import { confidenceReadingOf } from "@/solver/workload/gateColumns";
import { splitPrompts } from "@/solver/workload/split";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import type { GateRefusal } from "./gateRefusal";

/** The least log probability, as of a token that an engine reports as impossible. */
const LEAST = -100;

/** What of a workload its scorers are trained on. */
export type ScoredTable = Pick<Workload, "seed"> & {
  readonly outcomes: Pick<Workload["outcomes"], "inputTokens">;
  readonly origin: Pick<Workload["origin"], "confidence">;
};

/** What of a model's answers its scorer is trained on. */
export type ScoredAnswers = Pick<ModelOutcomes, "model" | "outputTokens" | "label" | "confidence">;

/** The input of scorers that a table's column of confidence is; null where it has none, or holds another measure. */
function confidenceFeature(
  { origin }: Pick<ScoredTable, "origin">,
  { confidence }: Pick<ScoredAnswers, "confidence">,
): ScorerFeature | null {
  if (confidence === undefined) return null;
  switch (confidenceReadingOf(origin).measure) {
    case "minimum":
      return "minimum-probability";
    case "length-normalised":
      return "mean-log-probability";
    default:
      return null;
  }
}

/** What an outcome table knows of an answer. */
function tableFeatures(table: Pick<ScoredTable, "origin">, answers: Pick<ScoredAnswers, "confidence">): readonly ScorerFeature[] {
  const confidence = confidenceFeature(table, answers);
  return ["log-answer-tokens", "log-prompt-tokens", ...(confidence === null ? [] : [confidence])];
}

/** Whether a scorer of a table's columns reads log probabilities. */
export const readsConfidence = (table: Pick<ScoredTable, "origin">, answers: Pick<ScoredAnswers, "confidence">): boolean =>
  confidenceFeature(table, answers) !== null;

/**
 * Trains a scorer of a model's answers on the planning prompts; the same table gives the same scorer.
 *
 * @param words of prompts and answers, by prompt; left out: the scorer reads the table's columns alone.
 */
export function trainTableScorer(table: ScoredTable, answers: ScoredAnswers, words?: readonly AnswerWords[]): LearntScorer {
  const { split, seed } = scoringOf(table, answers);
  return trainScorer(rowsOf(table, answers, { features: tableFeatures(table, answers), words })(split.planning), seed);
}

interface WordedScorer {
  readonly scorer: LearntScorer;
  /** Of prompts and answers, by prompt; a scorer that reads words needs them. */
  readonly words?: readonly AnswerWords[] | undefined;
  /** Called after each of the `SCORER_FOLDS` scorers that are trained for it. */
  readonly onFold?: () => void;
}

/**
 * Raw scores, 0..100, of a model's answers, none by a scorer that has seen the answer's label: those of planning prompts are cross-fitted with
 * the scorer's inputs, the others are its own.
 */
export function tableScores(table: ScoredTable, answers: ScoredAnswers, { scorer, words, onFold }: WordedScorer): Float64Array {
  const features = scorer.weights.map(({ feature }) => feature);
  return scorerScores(rowsOf(table, answers, { features, words }), { ...scoringOf(table, answers), scorer, ...(onFold && { onFold }) });
}

/** The scorer of a model's answers that was trained on texts; null where the workload has none. */
export const textScorerOf = ({ origin }: Pick<Workload, "origin">, { model, scorer }: ModelOutcomes): LearntScorer | null =>
  scorer === undefined ? null : (origin.scorers?.[model] ?? null);

/**
 * Raw scores, 0..100, of a model's answers by the scorer of a document; those of one that reads words are the workload's column.
 *
 * @returns why there are none where the workload does not hold what it reads.
 */
export function documentScores(workload: Workload, outcomes: ModelOutcomes, document: ScorerDocument): Float64Array | GateRefusal {
  const { model } = outcomes;
  if (document.words !== undefined) {
    const own = textScorerOf(workload, outcomes);
    const isOwn = own !== null && outcomes.scorer !== undefined && textOf(own) === textOf(document);
    return isOwn ? outcomes.scorer : { kind: "other-words", model };
  }
  const features = document.weights.map(({ feature }) => feature);
  const unknown = features.find((feature) => !tableFeatures(workload, outcomes).includes(feature));
  if (unknown !== undefined)
    return readsLogProbabilities.has(unknown) && outcomes.confidence === undefined
      ? { kind: "no-column", model, column: "confidence" }
      : { kind: "other-inputs", model, feature: unknown };
  return tableScores(workload, outcomes, { scorer: document });
}

/** A scorer as it is compared with another one. */
const textOf = ({ bias, weights, words }: LearntScorer): string => canonicalJson({ bias, weights, words: words ?? null });

const scoringOf = ({ seed }: Pick<ScoredTable, "seed">, { model, label }: ScoredAnswers) => ({
  split: splitPrompts(label.length, seed),
  seed: mixSeed(seed, `scorer of ${model}`),
});

function rowsOf(
  { outcomes: { inputTokens } }: ScoredTable,
  { outputTokens, label, confidence }: ScoredAnswers,
  { features, words }: Pick<ScorerRows, "features"> & Pick<WordedScorer, "words">,
): (of: Int32Array) => ScorerRows {
  const factOf = (feature: ScorerFeature, row: number): number | null => {
    switch (feature) {
      case "log-answer-tokens":
        return Math.log1p(outputTokens[row] ?? 0);
      case "log-prompt-tokens":
        return Math.log1p(inputTokens[row] ?? 0);
      case "minimum-probability":
        return confidence === undefined ? null : (confidence[row] ?? 0) / 100;
      case "mean-log-probability":
        return confidence === undefined ? null : Math.max(LEAST, Math.log((confidence[row] ?? 0) / 100));
      default:
        return null;
    }
  };
  return (of) => ({
    features,
    facts: Array.from(of, (row) => features.map((feature) => factOf(feature, row))),
    labels: Float64Array.from(of, (row) => label[row] ?? 0),
    ...(words === undefined ? {} : { words: Array.from(of).flatMap((row) => words[row] ?? []) }),
  });
}
