import type { LearntScorer } from "@/solver/gates/gateDocument";
import { type AnswerWords, answerWords } from "@/solver/gates/gates";
import { SCORER_FOLDS } from "@/solver/prediction/gateScorer";
import { type ScoredTable, tableScores, trainTableScorer } from "@/solver/stageGates/tableScorer";
import type { LabelledTable } from "@/solver/workload/applyJudge";

/** Texts of a profile; null where one is not stored. */
export interface ProfileTexts {
  /** The whole conversation, as a judge reads it. */
  prompt(promptId: string): string | null;
  /** By prompt. */
  answersOf(model: string): (promptId: string) => string | null;
}

/** How far the training of scorers is: each model with texts has a first scorer, and those of its folds where that one reads words. */
export interface ScorerProgress {
  readonly model: string;
  /** Of `of`: models for which no scorer is trained count as done. */
  readonly done: number;
  readonly of: number;
}

export interface ScoredByTexts {
  readonly table: LabelledTable;
  /** By model; left out where none has one. */
  readonly scorers?: Readonly<Record<string, LearntScorer>>;
}

/**
 * A profile's table with the columns of scorers that read the words of prompts and answers: for each model but the largest whose answers are all
 * stored, where words say more of its labels than the other columns.
 *
 * @param training the seed of the workload's split, and what its columns of confidence hold.
 * @param onProgress called before and after each scorer that is trained: seconds pass between two calls where texts are long.
 */
export function withTextScorers(
  table: LabelledTable,
  texts: ProfileTexts,
  { seed, confidence }: Pick<ScoredTable, "seed"> & ScoredTable["origin"],
  onProgress: (progress: ScorerProgress) => void = () => undefined,
): ScoredByTexts {
  const scorers: Record<string, LearntScorer> = {};
  const ofEach = 1 + SCORER_FOLDS;
  const models = table.models.map((own, at) => {
    let trained = 0;
    const say = (more: number): void => {
      trained += more;
      onProgress({ model: own.model, done: ofEach * at + trained, of: ofEach * (table.models.length - 1) });
    };
    const words = at === table.models.length - 1 || table.promptIds.length < 2 ? null : wordsOf(table, texts, own.tableName);
    if (words === null) return own;
    const of = { outcomes: table, seed, origin: { confidence } };
    say(0);
    const scorer = trainTableScorer(of, own, words);
    say(1);
    if (scorer.words === undefined) return own;
    scorers[own.model] = scorer;
    return { ...own, scorer: tableScores(of, own, { scorer, words, onFold: () => say(1) }) };
  });
  return { table: { ...table, models }, ...(Object.keys(scorers).length === 0 ? {} : { scorers }) };
}

/** The words of all prompts and of a model's answers; null where a text is not stored. */
function wordsOf({ promptIds }: LabelledTable, texts: ProfileTexts, model: string): readonly AnswerWords[] | null {
  const answerTo = texts.answersOf(model);
  const words: AnswerWords[] = [];
  for (const id of promptIds) {
    const [prompt, answer] = [texts.prompt(id), answerTo(id)];
    if (prompt === null || answer === null) return null;
    words.push(answerWords(prompt, answer));
  }
  return words;
}
