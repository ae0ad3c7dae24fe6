import { MAX_TOKENS, nameProblem, type Read, readWhole, shown } from "@/solver/workload/outcomeRow";

/** One model's answer to one question in a table of answers. */
export interface AnswerRow {
  readonly questionId: string;
  readonly model: string;
  /** Empty where questions have none. */
  readonly category: string;
  readonly isRight: boolean;
  /** As it is in the table, empty where the vote is empty; null: no vote could be read from the model's text. */
  readonly answer: string | null;
  readonly outputTokens: number;
}

/** Indices of the columns of a table of answers; -1 for none. */
export interface AnswerColumns extends Readonly<Record<(typeof needed)[number] | (typeof optional)[number], number>> {
  /** `out_tok`, or else `out_tok_est`. */
  readonly tokens: number;
  readonly areTokensEstimated: boolean;
}

const needed = ["prompt_id", "model", "correct", "answer"] as const;
const optional = ["parsed", "category"] as const;
const tokenColumns = ["out_tok", "out_tok_est"] as const;

/** Longer ones are no votes: two of them would hardly ever be equal. */
const LONGEST_ANSWER = 1000;

const verdicts: Readonly<Record<string, boolean>> = { "0": false, "1": true, false: false, true: true };

/** Finds the columns of a table of answers by their names; other columns are ignored. */
export function locateAnswerColumns(header: readonly string[]): Read<AnswerColumns> {
  const names = header.map((name) => name.trim());
  const missing: string[] = needed.filter((name) => !names.includes(name));
  const tokens = tokenColumns.find((name) => names.includes(name));
  if (tokens === undefined) missing.push("out_tok");
  if (tokens === undefined || missing.length > 0) {
    const found = names.slice(0, 15).map(shown).join(", ");
    return refuse(
      `${missing.join(", ")}: no such column among ${found}; name the columns ${needed.join(", ")} and out_tok (or out_tok_est where tokens are estimated), and where known ${optional.join(", ")}`,
    );
  }
  const twice = [...needed, ...optional, tokens].find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined) return refuse(`${twice}: two columns have this name; keep one`);
  const places = Object.fromEntries([...needed, ...optional].map((name) => [name, names.indexOf(name)]));
  const located = { ...places, tokens: names.indexOf(tokens), areTokensEstimated: tokens === "out_tok_est" };
  return { ok: true, value: located as AnswerColumns };
}

/** Reads one row of a table of answers, or returns which field is wrong and what would be right. */
export function readAnswerRow(cells: readonly string[], columns: AnswerColumns): Read<AnswerRow> {
  const cell = (name: Exclude<keyof AnswerColumns, "areTokensEstimated">): string => cells[columns[name]]?.trim() ?? "";
  for (const name of ["prompt_id", "model"] as const) {
    const problem = nameProblem(cell(name));
    if (problem !== null) return refuse(`${name} ${problem}`);
  }
  const category = cell("category");
  const categoryProblem = category === "" ? null : nameProblem(category);
  if (categoryProblem !== null) return refuse(`category ${categoryProblem}`);
  const isRight = verdictOf(cell("correct"));
  if (isRight === null) return refuse(`correct is ${shown(cell("correct"))}; it must be 1 or 0`);
  const isParsed = columns.parsed < 0 ? cell("answer") !== "" : verdictOf(cell("parsed"));
  if (isParsed === null) return refuse(`parsed is ${shown(cell("parsed"))}; it must be 1 or 0`);
  const field = columns.areTokensEstimated ? "out_tok_est" : "out_tok";
  const outputTokens = readWhole(field, cell("tokens"), { low: 0, high: MAX_TOKENS });
  if (!outputTokens.ok) return outputTokens;
  const answer = cells[columns.answer] ?? "";
  return {
    ok: true,
    value: {
      questionId: cell("prompt_id"),
      model: cell("model"),
      category,
      isRight,
      answer: isParsed && answer.length <= LONGEST_ANSWER ? answer : null,
      outputTokens: outputTokens.value,
    },
  };
}

const verdictOf = (text: string): boolean | null =>
  Object.hasOwn(verdicts, text.toLowerCase()) ? (verdicts[text.toLowerCase()] ?? null) : null;

const refuse = (problem: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem });
