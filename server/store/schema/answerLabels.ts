import { primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Labels of answers that a gateway served, with the raw scores that the gate of their stage gave them then. */
export const answerLabels = sqliteTable(
  "answer_labels",
  {
    clusterId: text().notNull(),
    decisionId: text().notNull(),
    /** The model that gave the answer. */
    model: text().notNull(),
    /** The plan that was in force: its policy names the gate. */
    planId: text().notNull(),
    /** Scores before calibration, of the gates that the stage's gate consists of. */
    raw: text({ mode: "json" }).$type<readonly (number | null)[]>().notNull(),
    quality: real().notNull(),
    actor: text().notNull(),
    at: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.clusterId, table.decisionId, table.model] })],
);
