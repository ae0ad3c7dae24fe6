import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import type { Outcome } from "@/server/contracts/studio";
import { shown } from "@/solver/workload/outcomeRow";
import { type RowProblem, rowProblemTexts } from "@/solver/workload/rowProblems";
import { createRefusedRows } from "./refusedRows";

/** A file to read: its bytes, and its name in messages. */
export interface CsvSource {
  readonly name: string;
  readonly stream: Readable | AsyncIterable<Uint8Array | string>;
}

/** A problem of the whole table that a row reveals, such as one row too many: nothing after it is read. */
export interface TableEnd {
  readonly end: string;
}

/** Callbacks for a file's lines. Each returns null, or the problem for which the file is refused. */
export interface CsvReader {
  header(names: readonly string[]): string | null;
  /** Also called after a problem, so that rows with exactly the same one are counted; what it collects is not used then. */
  row(cells: readonly string[], line: number): string | TableEnd | null;
  /**
   * Gets the problem of a row with other fields than the header's or with a missing quote, and reading continues; absent: it ends the
   * reading.
   */
  misshapen?(problem: string, line: number): void;
}

export type CsvRead = Outcome<{ readonly rows: number }>;

interface ParsedLine {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** No row of numbers and names is this long: a missing quote swallowed the lines after it. Also bounds the memory of reading. */
const MAX_ROW_CHARACTERS = 1_000_000;

/**
 * Streams a CSV file of any size (UTF-8, quotes as in RFC 4180) through a reader, at the speed of the reader. Problems of the file come
 * back as one sentence with file and line, or with the count and the first lines of the rows that share one.
 *
 * @throws the stream's exceptions: a failing disk or connection is no fault of the file.
 */
export async function readCsv(source: CsvSource, reader: CsvReader): Promise<CsvRead> {
  let lastLine = 0;
  let firstSkip = null as RowProblem | null;
  let lastSkippedLine = 0;
  const { misshapen } = reader;
  const parser = parse({
    skip_records_with_error: misshapen !== undefined,
    on_skip: (error) => {
      // A row without an end is reported for every part of the file that it swallows.
      if (lastSkippedLine === lastLine + 1) return undefined;
      const skip = { line: lastLine + 1, reason: syntaxProblem(error) ?? "this is not CSV" };
      firstSkip ??= skip;
      lastSkippedLine = skip.line;
      misshapen?.(`${skip.reason}; what follows may be lost with it`, skip.line);
      return undefined;
    },
    bom: true,
    info: true,
    relax_column_count: true,
    // Given explicitly, not detected: a file written on one system and edited on another has both.
    record_delimiter: ["\r\n", "\n"],
    skip_empty_lines: true,
    max_record_size: MAX_ROW_CHARACTERS,
    on_record: (record, { lines }) => {
      lastLine = lines;
      return record;
    },
  });
  // The parser is destroyed with the stream's error, so the loop below throws it; this promise would only throw it again.
  pipeline(source.stream, parser).catch(() => undefined);
  let columns = 0;
  let rows = 0;
  const refused = createRefusedRows(source.name);
  const refuse = (line: number, reason: string): CsvRead => ({
    ok: false,
    message: rowProblemTexts(source.name, [{ line, reason }]).join(),
  });
  try {
    for await (const {
      record: cells,
      info: { lines: line },
    } of parser as AsyncIterable<ParsedLine>) {
      const isHeader = columns === 0;
      if (isHeader) columns = cells.length;
      else rows++;
      if (cells.length !== columns) {
        const fault = `found ${cells.length} fields where the header has ${columns}; add or remove fields, or quote a field with commas`;
        if (misshapen === undefined) refused.add({ line, reason: fault });
        else misshapen(fault, line);
      } else if (isHeader) {
        const problem = reader.header(cells);
        if (problem !== null) return refuse(line, problem);
      } else {
        const problem = reader.row(cells, line);
        if (typeof problem === "string") refused.add({ line, reason: problem });
        else if (problem !== null && refused.message() === null) return refuse(line, problem.end);
      }
      if (refused.isEnough(line)) break;
    }
  } catch (error) {
    const problem = syntaxProblem(error);
    if (problem === null) throw error;
    // The invalid row begins after the last complete one; the parser itself counts to the position where it stopped.
    if (refused.message() === null) return refuse(lastLine + 1, problem);
  }
  const refusal = refused.message();
  if (refusal !== null) return { ok: false, message: refusal };
  if (columns === 0 && firstSkip !== null) return refuse(firstSkip.line, firstSkip.reason);
  if (columns === 0) return { ok: false, message: `${source.name} is empty; it needs a header line and rows` };
  if (rows === 0 && firstSkip === null) return { ok: false, message: `${source.name} has a header line but no rows; add some` };
  return { ok: true, rows };
}

/** The problem with the text, from an error of the CSV parser; null for any other error. */
function syntaxProblem(error: unknown): string | null {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return null;
  if (error.code === "CSV_MAX_RECORD_SIZE") {
    return `the row goes on for over ${MAX_ROW_CHARACTERS} characters; a quote before it may not be closed`;
  }
  return SYNTAX_PROBLEMS[error.code] ?? (error.code.startsWith("CSV_") ? `this is not CSV (${shown(error.message)})` : null);
}

const SYNTAX_PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed; close it, or write "" for a quote inside a quoted field',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote; write "" for a quote inside a quoted field',
  INVALID_OPENING_QUOTE: 'a quote stands inside an unquoted field; quote the whole field and write "" for the quote',
};
