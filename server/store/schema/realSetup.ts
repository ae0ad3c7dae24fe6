import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { RealSetupRecord } from "../documents/realSetupRecord";

/** The set-up of real models on this computer: one row, as far as it has come. */
export const realSetups = sqliteTable("real_setups", {
  id: integer().primaryKey(),
  record: text({ mode: "json" }).$type<RealSetupRecord>().notNull(),
});
