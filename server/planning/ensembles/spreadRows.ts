/** Answers to questions have few thousand different lengths, and what their experts agree on is known to a point by as many. */
export const MOST_ROWS = 4_000;

/** Places of as many rows of a table as are read, spread over all of it. */
export function spreadRows(rows: number): readonly number[] {
  const taken = Math.min(rows, MOST_ROWS);
  return Array.from({ length: taken }, (_, at) => Math.floor((at * rows) / taken));
}
