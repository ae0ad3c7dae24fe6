import type { Outcome } from "@/server/contracts/studio";
import type { SurveyedAnswers } from "@/server/contracts/studio/ensembles";
import { type CollectedAnswers, createAnswerCollector } from "@/solver/ensemble/replay/answerCollector";
import { type AnswerColumns, type AnswerRow, locateAnswerColumns, readAnswerRow } from "@/solver/ensemble/replay/answerRow";
import { type CsvRead, type CsvSource, readCsv, type TableEnd } from "./readCsv";

/** Most models and questions in a survey: a table with more is not a table of answers. */
const MOST_MODELS = 1000;
const MOST_QUESTIONS = 1_000_000;

const ESTIMATED = "Tokens of answers are estimated in the table (out_tok_est).";

/**
 * Reads the answers of some models from a CSV file of any size: columns prompt_id, model, correct, answer, out_tok (or out_tok_est) and, if
 * known, parsed and category; others are ignored. Every row of the file is checked, also those of other models.
 *
 * @returns the sample of the questions that all of these models answered, or one sentence with file, line and field, and the remedy.
 */
export async function importAnswers(source: CsvSource, models: readonly string[]): Promise<Outcome<CollectedAnswers>> {
  const collector = createAnswerCollector(models);
  const read = await readAnswerRows(source, (row) => collector.add(row));
  if (!read.ok) return read;
  const collected = collector.finish();
  if (!collected.ok) return { ok: false, message: `${source.name}: ${collected.problem}.` };
  const { sample, notes } = collected.value;
  return { ok: true, sample, notes: read.areTokensEstimated ? [...notes, ESTIMATED] : notes };
}

/** Reads a table of answers once, checking every row, and returns a summary. Keeps names and counts only. */
export async function surveyAnswers(source: CsvSource): Promise<Outcome<{ readonly survey: SurveyedAnswers }>> {
  const questions = new Set<string>();
  const models = new Map<string, { answers: number; right: number }>();
  let hasCategories = false;
  const read = await readAnswerRows(source, ({ questionId, model, isRight, category }) => {
    const count = models.get(model) ?? { answers: 0, right: 0 };
    count.answers += 1;
    count.right += isRight ? 1 : 0;
    models.set(model, count);
    questions.add(questionId);
    hasCategories ||= category !== "";
    if (models.size > MOST_MODELS) return { end: `model: there are more than ${MOST_MODELS} models; is this a table of answers?` };
    if (questions.size <= MOST_QUESTIONS) return null;
    return { end: `prompt_id: there are more than ${MOST_QUESTIONS} prompts; take a part of the table` };
  });
  if (!read.ok) return read;
  const listed = [...models].map(([model, { answers, right }]) => ({ model, answers, accuracy: right / answers }));
  const notes = [
    ...(read.areTokensEstimated ? [ESTIMATED] : []),
    ...(hasCategories ? [] : ["Questions have no categories: experts can be recruited by their accuracy over all of them only."]),
  ];
  return { ok: true, survey: { questions: questions.size, models: listed, notes } };
}

/** Streams the rows of a table of answers, each checked, to `take`, which returns null or the problem with a row or the table. */
async function readAnswerRows(
  source: CsvSource,
  take: (row: AnswerRow) => string | TableEnd | null,
): Promise<Exclude<CsvRead, { ok: true }> | { readonly ok: true; readonly areTokensEstimated: boolean }> {
  let columns: AnswerColumns | null = null;
  const read = await readCsv(source, {
    header(names) {
      const located = locateAnswerColumns(names);
      if (!located.ok) return located.problem;
      columns = located.value;
      return null;
    },
    row(cells) {
      if (columns === null) throw new Error("A row came before the header");
      const row = readAnswerRow(cells, columns);
      return row.ok ? take(row.value) : row.problem;
    },
  });
  if (!read.ok) return read;
  return { ok: true, areTokensEstimated: (columns as AnswerColumns | null)?.areTokensEstimated ?? false };
}
