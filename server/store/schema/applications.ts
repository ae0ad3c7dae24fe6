import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Application, ApplicationState, JournalLine } from "@/server/contracts/studio";
import type { StoredStep } from "../documents/storedStep";
import { clusters } from "./clusters";
import { plans } from "./plans";

export const applications = sqliteTable(
  "applications",
  {
    id: text().primaryKey(),
    clusterId: text()
      .notNull()
      .references(() => clusters.id),
    planId: text().references(() => plans.id),
    previousPlanId: text().references(() => plans.id),
    hasWayBack: integer({ mode: "boolean" }).notNull().default(true),
    kind: text({ enum: ["apply", "rollback"] }).notNull(),
    state: text().$type<ApplicationState>().notNull(),
    startedAt: text().notNull(),
    endedAt: text(),
    graceEndsAt: text(),
    steps: text({ mode: "json" }).$type<readonly StoredStep[]>().notNull(),
    error: text(),
    actor: text().notNull(),
    /** Set when it is being rolled back: its completed steps are being undone. */
    undoing: integer({ mode: "boolean" }).notNull(),
    rollBackOnRegression: integer({ mode: "boolean" }).notNull().default(false),
    halt: text({ mode: "json" }).$type<Application["halt"]>(),
    verification: text({ mode: "json" }).$type<Application["verification"]>(),
  },
  (table) => [index("applications_by_cluster").on(table.clusterId, table.startedAt)],
);

/** The actions of an application, line by line, written before and after every act. Append-only. */
export const journal = sqliteTable(
  "journal",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    applicationId: text()
      .notNull()
      .references(() => applications.id),
    at: text().notNull(),
    /** null: the application as a whole. */
    stepId: text(),
    event: text().$type<JournalLine["event"]>().notNull(),
    detail: text().notNull(),
  },
  (table) => [index("journal_by_application").on(table.applicationId, table.id)],
);
