/** The error in one row of a table. */
export interface RowProblem {
  /** Line of the file, the header being line 1. */
  readonly line: number;
  readonly reason: string;
}

/** Number of lines named for an error that many rows share. */
const NAMED_LINES = 3;

/**
 * Errors in rows of a table; an error that many rows share is reported once with their count and the first lines, the earliest first.
 *
 * @param file the table's name in the texts.
 * @param isCut whether later rows were not checked: counts are then minimums.
 * @returns texts without a full stop: `runs.csv line 3: …` or `runs.csv, 72 rows (lines 2, 3, 4 …): …`.
 */
export function rowProblemTexts(file: string, problems: readonly RowProblem[], isCut = false): readonly string[] {
  const byReason = new Map<string, number[]>();
  for (const { line, reason } of problems.toSorted((one, other) => one.line - other.line)) {
    const lines = byReason.get(reason);
    if (lines === undefined) byReason.set(reason, [line]);
    else lines.push(line);
  }
  return [...byReason].map(([reason, lines]) => {
    if (lines.length === 1) return `${file} line ${lines[0]}: ${reason}`;
    const named = lines.slice(0, NAMED_LINES).join(", ");
    return `${file}, ${isCut ? "at least " : ""}${lines.length} rows (lines ${named}${lines.length > NAMED_LINES ? " …" : ""}): ${reason}`;
  });
}
