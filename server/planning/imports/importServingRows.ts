import type { Outcome } from "@/server/contracts/studio";
import { neededColumns, readServingRow, servingColumns } from "@/solver/calibration/readServingRow";
import type { ServingRow, UnsupportedRow } from "@/solver/calibration/servingRow";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { shown } from "@/solver/workload/outcomeRow";
import type { RowProblem } from "@/solver/workload/rowProblems";
import { type CsvSource, readCsv } from "./readCsv";

/** Measured runs from any source: a file, or the telemetry of a cluster. */
export interface MeasuredRows {
  /** Name of their source in messages. */
  readonly name: string;
  readonly rows: readonly ServingRow[];
  readonly unsupported: readonly UnsupportedRow[];
  /** Rows that could not be read. */
  readonly bad: readonly RowProblem[];
}

export type ImportedRows = Outcome<MeasuredRows>;

/**
 * Reads measured runs from a CSV file of any size; see `servingColumns` for its columns. An invalid row does not prevent the others from
 * being read.
 *
 * @param mostRows a longer table is refused.
 * @returns the rows, or one sentence with file and line if the header or the file as a whole is invalid.
 */
export async function importServingRows(
  source: CsvSource,
  cards: CardCatalogue,
  mostRows = Number.POSITIVE_INFINITY,
): Promise<ImportedRows> {
  const rows: ServingRow[] = [];
  const unsupported: UnsupportedRow[] = [];
  const bad: RowProblem[] = [];
  let names: readonly string[] = [];
  const read = await readCsv(source, {
    header(found) {
      names = found.map((name) => name.trim());
      const missing = neededColumns.find((column) => !servingColumns[column].some((name) => names.includes(name)));
      if (missing === undefined) return null;
      const wanted = servingColumns[missing].join(" or ");
      return `${wanted}: no such column among ${names.slice(0, 10).map(shown).join(", ")}; name one so`;
    },
    row(cells, line) {
      if (rows.length + unsupported.length + bad.length >= mostRows)
        return {
          end: `the table goes on after ${mostRows} rows; take a part of it, or use the command line, which reads tables of any size`,
        };
      const answer = readServingRow(Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""])), line, cards);
      if (answer.outcome === "row") rows.push(answer.row);
      else if (answer.outcome === "unsupported") unsupported.push(answer.unsupported);
      else bad.push({ line, reason: answer.message });
      return null;
    },
    misshapen(reason, line) {
      bad.push({ line, reason });
    },
  });
  return read.ok ? { ok: true, name: source.name, rows, unsupported, bad } : read;
}
