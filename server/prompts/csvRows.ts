import { MAX_LINE_BYTES, type TextLine, textLines } from "../lib/textLines";

/** A row of a table by the line that it begins on: its cells, or why it cannot be read. */
export type CsvRow = { readonly line: number; readonly cells: readonly string[] } | { readonly line: number; readonly problem: string };

/** A row as far as it was read; a quote that is open takes the next line too. */
interface OpenRow {
  readonly cells: string[];
  field: string;
  isQuoted: boolean;
}

const UNCLOSED = 'a quote is opened and never closed; close it, or write "" for a quote inside a quoted field';
const AFTER_QUOTE = 'text follows a closing quote; write "" for a quote inside a quoted field';
const INSIDE = 'a quote stands inside an unquoted field; quote the whole field and write "" for the quote';

/**
 * Rows of a CSV file of any size (UTF-8, quotes as in RFC 4180), as many at a time as came together. Of a row that cannot be read only the
 * line that it begins on is lost: reading goes on with the next, so that a quote too many costs no more than that. A row of over 8 MB
 * counts as one whose quote was never closed. Empty lines between rows are left out.
 */
export async function* csvRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly CsvRow[]> {
  let rows: CsvRow[] = [];
  // Lines of the unfinished row; if the row is invalid, they are parsed again one by one.
  let held: TextLine[] = [];
  let heldCharacters = 0;
  let row = emptyRow();

  /** Records the problem of the unfinished row, and parses the lines after its first one again. */
  function giveUp(problem: string): void {
    const [first, ...rest] = held;
    close();
    if (first !== undefined) rows.push({ line: first.line, problem });
    for (const line of rest) add(line);
  }
  function close(): void {
    held = [];
    heldCharacters = 0;
    row = emptyRow();
  }
  function add(next: TextLine): void {
    if ("problem" in next) {
      while (held.length > 0) giveUp(UNCLOSED);
      rows.push(next);
      return;
    }
    if (next.text === "" && held.length === 0) return;
    held.push(next);
    heldCharacters += next.text.length;
    const problem = heldCharacters > MAX_LINE_BYTES ? UNCLOSED : readOn(row, next.text);
    if (problem !== null) giveUp(problem);
    else if (!row.isQuoted) {
      rows.push({ line: held[0]?.line ?? next.line, cells: row.cells });
      close();
    }
  }

  for await (const lines of textLines(chunks, "as they are")) {
    for (const line of lines) add(line);
    if (rows.length > 0) yield rows;
    rows = [];
  }
  while (held.length > 0) giveUp(UNCLOSED);
  if (rows.length > 0) yield rows;
}

/** Cells of a row that is one line; null where it is not one. */
export function cellsOf(line: string): readonly string[] | null {
  const row = emptyRow();
  return readOn(row, line) === null && !row.isQuoted ? row.cells : null;
}

const emptyRow = (): OpenRow => ({ cells: [], field: "", isQuoted: false });

/**
 * Adds one more line to a row.
 * @returns why it is invalid, or null: it is complete, or continues because a quote is open.
 */
function readOn(row: OpenRow, text: string): string | null {
  let at = 0;
  if (row.isQuoted) row.field += "\n";
  for (;;) {
    if (row.isQuoted) {
      const quote = text.indexOf('"', at);
      row.field += text.slice(at, quote < 0 ? undefined : quote);
      if (quote < 0) return null;
      at = quote + 1;
      if (text[at] === '"') {
        row.field += '"';
        at += 1;
        continue;
      }
      if (at < text.length && text[at] !== ",") return AFTER_QUOTE;
      row.cells.push(row.field);
      row.field = "";
      row.isQuoted = false;
      if (at === text.length) return null;
      at += 1;
    }
    if (text[at] === '"') {
      row.isQuoted = true;
      at += 1;
      continue;
    }
    const comma = text.indexOf(",", at);
    const cell = text.slice(at, comma < 0 ? undefined : comma);
    if (cell.includes('"')) return INSIDE;
    row.cells.push(cell);
    if (comma < 0) return null;
    at = comma + 1;
  }
}
