import type { Outcome } from "@/server/contracts/studio";
import { resolveModel } from "@/solver/hardware/aliases";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { type ImportedColumn, importedColumns } from "@/solver/workload/gateColumns";
import { readOutcomeRows } from "./importOutcomes";
import type { CsvSource } from "./readCsv";

/** The content of one family of an outcome table. */
interface FamilySurvey {
  readonly family: string;
  readonly tasks: readonly { readonly task: string; readonly metric: string; readonly rows: number }[];
  /** Smallest first; `model` is the card of its name, null if the operator must name one. */
  readonly models: readonly { readonly tableName: string; readonly model: string | null }[];
  /** Whether rows carry a measured judge's score. */
  readonly judged: boolean;
  /** Columns of other gates' scores that have any. */
  readonly gateColumns: readonly ImportedColumn[];
}

export type OutcomeSurvey = Outcome<{ readonly rows: number; readonly families: readonly FamilySurvey[] }>;

interface FamilyCount {
  readonly tasks: Map<string, { readonly metric: string; rows: number }>;
  readonly sizeRankOf: Map<string, number>;
  judged: boolean;
  readonly scored: Set<ImportedColumn>;
}

/**
 * Reads an outcome table once, checking every row, and lists what can be imported from it. Keeps names and counts only. Names refer to
 * `models`, by default the shipped ones.
 */
export async function surveyOutcomes(source: CsvSource, models?: CardCatalogue["models"]): Promise<OutcomeSurvey> {
  const families = new Map<string, FamilyCount>();
  const read = await readOutcomeRows(source, (row) => {
    const family = families.get(row.family) ?? {
      tasks: new Map(),
      sizeRankOf: new Map(),
      judged: false,
      scored: new Set<ImportedColumn>(),
    };
    families.set(row.family, family);
    const task = family.tasks.get(row.task) ?? { metric: row.metric, rows: 0 };
    family.tasks.set(row.task, task);
    task.rows++;
    family.sizeRankOf.set(row.model, row.sizeRank);
    family.judged ||= row.judged !== null;
    for (const name of importedColumns) if (row[name] !== null) family.scored.add(name);
    return null;
  });
  if (!read.ok) return read;
  return {
    ok: true,
    rows: read.rows,
    families: [...families].map(([family, { tasks, sizeRankOf, judged, scored }]) => ({
      family,
      tasks: [...tasks].map(([task, { metric, rows }]) => ({ task, metric, rows })),
      models: [...sizeRankOf]
        .sort(([, a], [, b]) => a - b)
        .map(([tableName]) => ({ tableName, model: resolveModel(tableName, {}, models) ?? null })),
      judged,
      gateColumns: importedColumns.filter((name) => scored.has(name)),
    })),
  };
}
