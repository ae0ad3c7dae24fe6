/** One answer: a model's outcome for a prompt. */
export interface OutcomeRow {
  readonly task: string;
  readonly metric: string;
  readonly promptId: string;
  /** The task where the table gives no category. */
  readonly category: string;
  /** null: not in the table. */
  readonly inputTokens: number | null;
  readonly family: string;
  /** Position in the family, smaller is the smaller model; need not start at 0. */
  readonly sizeRank: number;
  readonly model: string;
  /** Quality that counts, 0..100. */
  readonly label: number;
  /** Measured score of a judge, 0..100; null where the table has none. */
  readonly judged: number | null;
  /** Raw scores of other gates, 0..100; null where the table has none. */
  readonly confidence: number | null;
  readonly agreement: number | null;
  /** At least 1: an engine with an empty answer still generates the end-of-sequence token. */
  readonly outputTokens: number;
}

/** Indices of the columns of a table. The optional ones may be missing: -1. */
export type OutcomeColumns = Readonly<Record<(typeof REQUIRED)[number] | (typeof OPTIONAL)[number], number>>;

/** A value, or the rest of a sentence that starts with the field at fault. */
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

const REQUIRED = ["task", "metric", "prompt_id", "category", "family", "size_rank", "model", "score", "out_tok"] as const;
const OPTIONAL = ["in_tok", "judged_score", "confidence", "agreement"] as const;

/** Ten times the longest context of any model card: higher values are no count of tokens. */
export const MAX_TOKENS = 10_000_000;
const MAX_RANK = 1000;
const MAX_NAME_LENGTH = 200;

/** Right or wrong, 0..1: the only metric that is no grade. */
const CORRECT = "correct";

/**
 * The scale of a metric's scores, from its name: `correct` 0..1, names that end in `1to10` 1..10, any other 0..100.
 * Scores map to labels linearly, the ends to 0 and 100.
 */
export function metricScale(metric: string): { readonly low: number; readonly high: number } {
  if (metric === CORRECT) return { low: 0, high: 1 };
  return /1to10$/i.test(metric) ? { low: 1, high: 10 } : { low: 0, high: 100 };
}

/** Finds the columns of an outcome table by their names; other columns are ignored. */
export function locateColumns(header: readonly string[]): Read<OutcomeColumns> {
  const names = header.map((name) => name.trim());
  const missing = REQUIRED.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    const found = names.slice(0, 15).map(shown).join(", ");
    return refuse(
      `${missing.join(", ")}: no such column among ${found}; name the columns ${[...REQUIRED, ...OPTIONAL].join(", ")} (the last four where known)`,
    );
  }
  const all = [...REQUIRED, ...OPTIONAL];
  const twice = all.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined) return refuse(`${twice}: two columns have this name; keep one`);
  return { ok: true, value: Object.fromEntries(all.map((name) => [name, names.indexOf(name)])) as OutcomeColumns };
}

/** Reads one row of an outcome table, or returns which field is wrong and what would be right. */
export function readOutcomeRow(cells: readonly string[], columns: OutcomeColumns): Read<OutcomeRow> {
  const cell = (name: keyof OutcomeColumns): string => cells[columns[name]]?.trim() ?? "";
  for (const name of ["task", "metric", "family", "model"] as const) {
    const problem = nameProblem(cell(name));
    if (problem !== null) return refuse(`${name} ${problem}`);
  }
  const promptId = cell("prompt_id");
  const idProblem = nameProblem(promptId);
  if (idProblem !== null) return refuse(`prompt_id ${idProblem}`);
  // A replayed prompt starts with its id in brackets.
  if (/[[\]]/.test(promptId)) return refuse(`prompt_id is ${shown(promptId)}; leave out square brackets`);

  const metric = cell("metric");
  const { low, high } = metricScale(metric);
  const score = readNumber("score", cell("score"), { low, high, of: ` of metric ${shown(metric)}` });
  if (!score.ok) return score;
  const sizeRank = readWhole("size_rank", cell("size_rank"), { low: 0, high: MAX_RANK });
  if (!sizeRank.ok) return sizeRank;
  const outputTokens = readWhole("out_tok", cell("out_tok"), { low: 0, high: MAX_TOKENS });
  if (!outputTokens.ok) return outputTokens;
  const inputTokens = readInputTokens(cell("in_tok"), metric);
  if (!inputTokens.ok) return inputTokens;
  const gateScore = (name: "judged_score" | "confidence" | "agreement"): Read<number | null> =>
    cell(name) === "" ? { ok: true, value: null } : readNumber(name, cell(name), { low: 0, high: 100 });
  const [judged, confidence, agreement] = [gateScore("judged_score"), gateScore("confidence"), gateScore("agreement")];
  if (!judged.ok) return judged;
  if (!confidence.ok) return confidence;
  if (!agreement.ok) return agreement;
  return {
    ok: true,
    value: {
      task: cell("task"),
      metric,
      promptId,
      category: cell("category") || cell("task"),
      inputTokens: inputTokens.value,
      family: cell("family"),
      sizeRank: sizeRank.value,
      model: cell("model"),
      label: (100 * (score.value - low)) / (high - low),
      judged: judged.value,
      confidence: confidence.value,
      agreement: agreement.value,
      outputTokens: Math.max(1, outputTokens.value),
    },
  };
}

/** Graded sets may have no lengths, which are then estimated; right-or-wrong sets always have them. */
function readInputTokens(text: string, metric: string): Read<number | null> {
  if (text !== "") return readWhole("in_tok", text, { low: 1, high: MAX_TOKENS });
  if (metric !== CORRECT) return { ok: true, value: null };
  return refuse(`in_tok is missing; give the prompt's tokens (only graded metrics may leave them out, and are then estimated)`);
}

interface Range {
  readonly low: number;
  readonly high: number;
  /** The name of the range's owner, for the message. */
  readonly of?: string;
}

/** A number of a field within a range, or what is wrong with it. */
export function readNumber(field: string, text: string, { low, high, of = "" }: Range): Read<number> {
  const value = text === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value) && value >= low && value <= high) return { ok: true, value };
  return refuse(`${field} is ${shown(text)}; it must be a number from ${low} to ${high}${of}`);
}

/** A whole number of a field within a range, or what is wrong with it. */
export function readWhole(field: string, text: string, { low, high }: Range): Read<number> {
  const value = text === "" ? Number.NaN : Number(text);
  if (Number.isInteger(value) && value >= low && value <= high) return { ok: true, value };
  return refuse(`${field} is ${shown(text)}; it must be a whole number from ${low} to ${high}`);
}

/** Why a text is not a valid name, as the rest of a sentence that starts with its field; null: it is valid. */
export function nameProblem(text: string): string | null {
  if (text === "") return "is empty; fill it in";
  if (text.length > MAX_NAME_LENGTH) return `is ${text.length} characters long; shorten it to ${MAX_NAME_LENGTH}`;
  return /\p{Cc}/u.test(text) ? `is ${shown(text)}; leave out line breaks and control characters` : null;
}

const refuse = (problem: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem });

/** A value of the file in a message: quoted, short, on one line. */
export const shown = (text: string): string => {
  const line = text.replace(/\p{Cc}+/gu, " ");
  return `'${line.length > 60 ? `${line.slice(0, 57)}...` : line}'`;
};
