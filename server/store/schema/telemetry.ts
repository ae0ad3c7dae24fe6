import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Telemetry in steps of 10 s or a minute: one row holds sixty steps of all quantities of one subject, packed. A row for each series
 * and step was measured at 21 times the size, most of it keys.
 */
export const rollUps = sqliteTable(
  "roll_ups",
  {
    clusterId: text().notNull(),
    subject: text().notNull(),
    stepSeconds: integer().notNull(),
    startMs: integer().notNull(),
    data: blob({ mode: "buffer" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.clusterId, table.subject, table.stepSeconds, table.startMs] }),
    index("roll_ups_by_age").on(table.stepSeconds, table.startMs),
  ],
);

/** Each engine's identity as it reports it, and the time since when that is known: rows from its telemetry cover only that time. */
export const engineIdentities = sqliteTable(
  "engine_identities",
  {
    clusterId: text().notNull(),
    engineId: text().notNull(),
    model: text().notNull(),
    /** The type in its metrics. */
    type: text().notNull(),
    version: text(),
    sinceMs: integer().notNull(),
    resetsMs: text({ mode: "json" }).$type<readonly number[]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.clusterId, table.engineId] })],
);
