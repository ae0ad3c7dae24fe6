import { type Read, shown } from "@/solver/workload/outcomeRow";
import { isSelected } from "@/solver/workload/unselected";
import { canonicalText } from "../gate/canonicalVote";
import type { AnswerRow } from "./answerRow";
import type { AnswerSample } from "./answerSample";

/** Maximum number of questions of a sample: those that a gate is replayed on at once. */
const MOST_QUESTIONS = 100_000;

/**
 * Minimum share of equal answers with different grades for the conclusion that a table's grader distinguishes answers by more than votes
 * do.
 */
const MOST_GRADED_UNLIKE = 0.005;

/** Vote of an answer with an empty text. */
const EMPTY = '""';

/** Maximum number of names in a message. */
const LISTED_NAMES = 20;

interface Column {
  readonly answers: (string | null)[];
  readonly correct: number[];
  readonly outputTokens: number[];
  readonly asked: number[];
}

export interface CollectedAnswers {
  readonly sample: AnswerSample;
  /** Omissions, and how answers were distinguished, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * Collects the answers of some models into a sample of the questions that all of them answered, holding only the data of a sample. Answers
 * are equal if votes of texts are (`canonicalText`), unless the table's own grader distinguishes many of them, as it does outputs of
 * programs: then only equal texts are.
 *
 * @returns `add`, which returns null or the problem with a row, and `finish`, which returns the sample or the problem with the whole.
 */
export function createAnswerCollector(models: readonly string[]) {
  const columns = new Map<string, Column>(models.map((model) => [model, { answers: [], correct: [], outputTokens: [], asked: [] }]));
  const places = new Map<string, number>();
  const categories: string[] = [];
  const others = new Set<string>();

  function add(row: AnswerRow): string | null {
    const column = columns.get(row.model);
    if (column === undefined) {
      if (others.size < LISTED_NAMES) others.add(row.model);
      return null;
    }
    const at = places.get(row.questionId) ?? places.size;
    if (at === MOST_QUESTIONS) return `the table goes on after ${MOST_QUESTIONS} questions; take a part of it`;
    places.set(row.questionId, at);
    if (column.asked[at] === 1)
      return `prompt_id ${shown(row.questionId)} was answered by ${shown(row.model)} before; keep one row per prompt and model`;
    const category = categories[at] || row.category;
    if (row.category !== "" && row.category !== category)
      return `category of ${shown(row.questionId)} is ${shown(row.category)} here and ${shown(category)} before; give the prompt one`;
    categories[at] = category;
    column.answers[at] = row.answer;
    column.correct[at] = row.isRight ? 1 : 0;
    column.outputTokens[at] = row.outputTokens;
    column.asked[at] = 1;
    return null;
  }

  function finish(): Read<CollectedAnswers> {
    const absent = models.find((model) => columns.get(model)?.asked.length === 0);
    if (absent !== undefined)
      return refuse(
        `model ${shown(absent)} does not occur; choose from ${[...others, ...models.filter((model) => model !== absent)].slice(0, LISTED_NAMES).map(shown).join(", ")}`,
      );
    const ids = [...places.keys()];
    const kept = [...ids.keys()].filter((at) => [...columns.values()].every(({ asked }) => asked[at] === 1));
    if (kept.length === 0) return refuse("no question was answered by all of these models; choose others");
    const { votes, notes } = votesOf([...columns.values()], kept);
    if (kept.length < ids.length) {
      const selected = selectedSays(columns, [...ids.keys()], new Set(kept));
      notes.unshift(
        `${ids.length - kept.length} of ${ids.length} questions are left out, as not all of these models answered them.`,
        ...(selected === null ? [] : [selected]),
      );
    }
    const hasCategories = kept.some((at) => categories[at] !== "");
    return {
      ok: true,
      value: {
        notes,
        sample: {
          questionIds: kept.map((at) => ids[at] ?? ""),
          ...(hasCategories && { categories: kept.map((at) => categories[at] ?? "") }),
          models: [...columns].map(([model, { correct, outputTokens }], index) => ({
            model,
            answers: votes[index] ?? [],
            correct: Uint8Array.from(kept, (at) => correct[at] ?? 0),
            outputTokens: Int32Array.from(kept, (at) => outputTokens[at] ?? 0),
            asked: new Uint8Array(kept.length).fill(1),
          })),
        },
      },
    };
  }

  return { add, finish };
}

/**
 * A note that the questions which all models answered are no random part, as behind a cascade that escalates the harder ones, by the model
 * with the strongest evidence; null: no evidence.
 */
function selectedSays(columns: ReadonlyMap<string, Column>, places: readonly number[], kept: ReadonlySet<number>): string | null {
  const selected = [...columns].flatMap(([model, { correct, asked }]) => {
    const answered = places.filter((at) => asked[at] === 1);
    const label = (at: number): number => 100 * (correct[at] ?? 0);
    if (!isSelected(answered.map((at) => ({ score: label(at), label: label(at), reached: kept.has(at) })))) return [];
    const quality = (of: readonly number[]): number => of.reduce((sum, at) => sum + label(at), 0) / of.length;
    return [{ model, all: quality(answered), own: quality(answered.filter((at) => kept.has(at))) }];
  });
  const [most] = selected.sort((a, b) => Math.abs(b.all - b.own) - Math.abs(a.all - a.own));
  if (most === undefined) return null;
  return `Those that are kept are not a random sample: ${most.model} is right on ${most.own.toFixed(1)} % of them and on ${most.all.toFixed(1)} % of all it answered. Figures hold for questions like them; how good these models are on all is not known from this table.`;
}

/** Votes of each column on the kept questions, and the notes on them. */
function votesOf(columns: readonly Column[], kept: readonly number[]): { readonly votes: (string | null)[][]; readonly notes: string[] } {
  const asTheyStand = columns.map(({ answers }) => kept.map((at) => (answers[at] === "" ? EMPTY : (answers[at] ?? null))));
  const alike = asTheyStand.map((answers) => answers.map((answer) => answer && (canonicalText(answer) || EMPTY)));
  const unlike = gradedUnlike(alike, (index, question) => columns[index]?.correct[kept[question] ?? 0] === 1);
  const voted = alike.flat().filter((vote) => vote !== null).length;
  if (unlike > MOST_GRADED_UNLIKE * voted) {
    const says = `${unlike} of ${voted} answers were graded unlike others that differ from them by no more than case, marks or blanks: only equal texts count as the same vote.`;
    return { votes: asTheyStand, notes: [says] };
  }
  return {
    votes: alike,
    notes: ["Answers that differ by no more than case, marks, blanks or how a number is written count as the same vote."],
  };
}

/** Number of answers with another grade than most of their question's answers with the same vote. */
function gradedUnlike(votes: readonly (readonly (string | null)[])[], isRight: (column: number, question: number) => boolean): number {
  let unlike = 0;
  for (const question of votes[0]?.keys() ?? []) {
    const verdicts = new Map<string, { right: number; wrong: number }>();
    votes.forEach((column, index) => {
      const vote = column[question] ?? null;
      if (vote === null) return;
      const verdict = verdicts.get(vote) ?? { right: 0, wrong: 0 };
      verdict[isRight(index, question) ? "right" : "wrong"] += 1;
      verdicts.set(vote, verdict);
    });
    for (const { right, wrong } of verdicts.values()) unlike += Math.min(right, wrong);
  }
  return unlike;
}

const refuse = (problem: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem });
