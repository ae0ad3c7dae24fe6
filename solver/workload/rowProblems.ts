/** What is wrong with one row of a table. */
export interface RowProblem {
  /** Line of the file, the header being line 1. */
  readonly line: number;
  readonly reason: string;
}

/** Lines named of an error that many rows share. */
const NAMED_LINES = 3;

/**
 * What is wrong with rows of a table, an error that many rows share said once with their count and the first lines, the earliest first.
 *
 * @param file how the texts name the table.
 * @param isCut whether rows after these were not looked at: counts are then the least there are.
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
