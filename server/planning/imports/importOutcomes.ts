import { type CollectedOutcomes, createOutcomeCollector, type OutcomeSelection } from "@/solver/workload/outcomeCollector";
import { locateColumns, type OutcomeColumns, type OutcomeRow, readOutcomeRow } from "@/solver/workload/outcomeRow";
import { type CsvRead, type CsvSource, readCsv } from "./readCsv";
import { type StatedColumns, statedColumns } from "./statedColumns";

export type ImportedOutcomes =
  | (StatedColumns & {
      readonly ok: true;
      /** The origin of the table and what was excluded or estimated, in words. */
      readonly origin: string;
    } & CollectedOutcomes)
  | { readonly ok: false; readonly message: string };

/**
 * Reads the outcomes of one family from a CSV file of any size: columns task, metric, prompt_id, category, in_tok, family, size_rank,
 * model, score, out_tok and, if gates were measured, judged_score, confidence and agreement; others are ignored. Every row of the file is checked, also those of
 * other families. Scores become labels 0..100 by the metric's name (see `metricScale`).
 *
 * @param said what the columns confidence and agreement hold; left out: nothing is known of them.
 * @returns the table, or one sentence with file, line and field, and the remedy.
 */
export async function importOutcomes(source: CsvSource, selection: OutcomeSelection, said: StatedColumns = {}): Promise<ImportedOutcomes> {
  const collector = createOutcomeCollector(selection);
  const read = await readOutcomeRows(source, (row) => collector.add(row));
  if (!read.ok) return read;
  const collected = collector.finish();
  if (!collected.ok) return { ok: false, message: `${source.name}: ${collected.problem}` };
  const stated = statedColumns(collected.value.table, said, selection);
  if (!stated.ok) return { ok: false, message: `${source.name}: ${stated.message}` };
  return { ok: true, ...collected.value, ...stated.stated, origin: originOf(source.name, collected.value) };
}

/** Streams the rows of an outcome table, each checked, to `take`, which returns null or the problem with a row. */
export async function readOutcomeRows(source: CsvSource, take: (row: OutcomeRow) => string | null): Promise<CsvRead> {
  let columns: OutcomeColumns | null = null;
  return readCsv(source, {
    header(names) {
      const located = locateColumns(names);
      if (!located.ok) return located.problem;
      columns = located.value;
      return null;
    },
    row(cells) {
      if (columns === null) throw new Error("A row came before the header");
      const row = readOutcomeRow(cells, columns);
      return row.ok ? take(row.value) : row.problem;
    },
  });
}

function originOf(name: string, { table, family, tasks, droppedPrompts, thinnedPrompts, promptLengths }: CollectedOutcomes): string {
  const parts = [
    `${name}, family ${family}, ${tasks.length === 1 ? "task" : "tasks"} ${tasks.join(", ")}: ${table.promptIds.length} prompts x ${table.models.length} models`,
  ];
  if (droppedPrompts > 0) parts.push(`${droppedPrompts} prompts left out that not every model answered`);
  if (thinnedPrompts > 0)
    parts.push(
      `${thinnedPrompts} more left out, whose kind a gate had sent on to the larger model more often than others: those kept are like all`,
    );
  if (promptLengths === "estimated") parts.push("prompt lengths estimated, the table has none for some or all");
  return parts.join("; ");
}
