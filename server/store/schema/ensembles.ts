import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AnswerSampleSummary } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";

/** Ensembles that were saved here. A name's newest version is valid; append-only, and `document` is null if it was removed. */
export const ensembles = sqliteTable(
  "ensembles",
  {
    name: text().notNull(),
    version: integer().notNull(),
    createdAt: text().notNull(),
    actor: text().notNull(),
    document: text({ mode: "json" }).$type<Ensemble>(),
  },
  (table) => [primaryKey({ columns: [table.name, table.version] })],
);

/** Labelled answers on which gates are chosen. */
export const answerSamples = sqliteTable("answer_samples", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  summary: text({ mode: "json" }).$type<AnswerSampleSummary>().notNull(),
  /** The encoded sample, compressed. */
  data: blob({ mode: "buffer" }).notNull(),
});

/** Measured sessions of experts, to which session costs are fitted. */
export const sessionRows = sqliteTable("session_rows", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text().notNull(),
  row: text({ mode: "json" }).$type<SessionRow>().notNull(),
});
