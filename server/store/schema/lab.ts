import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { LabCell, LabSpec } from "@/server/contracts/studio";

/** Runs of the lab, each by the SHA-256 of all inputs of its figures. Their cells are in `labCells`. */
export const labRuns = sqliteTable("lab_runs", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  actor: text().notNull(),
  spec: text({ mode: "json" }).$type<LabSpec>().notNull(),
  state: text({ enum: ["running", "done", "cancelled", "interrupted", "failed"] }).notNull(),
  problem: text(),
  /** The caveats about the figures when it was started. */
  notes: text({ mode: "json" }).$type<readonly string[]>().notNull().default([]),
});

/** Cells of the lab's runs, in the order of their completion. */
export const labCells = sqliteTable(
  "lab_cells",
  {
    runId: text()
      .notNull()
      .references(() => labRuns.id),
    position: integer().notNull(),
    cell: text({ mode: "json" }).$type<LabCell>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.position] })],
);
