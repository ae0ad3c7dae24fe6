/** Answers to questions have few thousand different lengths, and this many rows determine the experts' agreement to a point. */
export const MOST_ROWS = 4_000;

/** Positions of the rows of a table that are read, spread over all of it. */
export function spreadRows(rows: number): readonly number[] {
  const taken = Math.min(rows, MOST_ROWS);
  return Array.from({ length: taken }, (_, at) => Math.floor((at * rows) / taken));
}
