import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { BatchState, BatchSummary } from "@/server/contracts/studio";
import type { BatchOrder } from "../documents/batchOrder";
import { clusters } from "./clusters";
import { promptSets } from "./prompts";

/** Batches of questions run through an ensemble. */
export const batches = sqliteTable("batches", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  endedAt: text(),
  actor: text().notNull(),
  clusterId: text()
    .notNull()
    .references(() => clusters.id),
  promptSetId: text()
    .notNull()
    .references(() => promptSets.id),
  /** The request, with its version of the ensemble, the place of each session and its prompts. */
  order: text({ mode: "json" }).$type<BatchOrder>().notNull(),
  state: text().$type<BatchState>().notNull(),
  pause: text({ mode: "json" }).$type<BatchSummary["pause"]>(),
});

/**
 * One call of a batch: an expert's answer to a prompt, or the aggregator's. `asked` is written before the call, so that after a kill only
 * the calls that may have no result are repeated.
 */
export const batchCalls = sqliteTable(
  "batch_calls",
  {
    batchId: text()
      .notNull()
      .references(() => batches.id),
    stage: text({ enum: ["experts", "aggregator"] }).notNull(),
    position: integer().notNull(),
    model: text().notNull(),
    /** `waiting`: an attempt failed and it is asked again. */
    state: text({ enum: ["asked", "waiting", "done", "failed"] }).notNull(),
    /** The number of attempts, and how many of these a killed studio lost. */
    attempts: integer().notNull(),
    lost: integer().notNull().default(0),
    at: text().notNull(),
    engine: text(),
    inputTokens: integer(),
    outputTokens: integer(),
    seconds: real(),
    failure: text(),
    /** null: the answer has no readable vote. */
    vote: text(),
    answer: text(),
  },
  (table) => [primaryKey({ columns: [table.batchId, table.stage, table.position, table.model] })],
);

/** Sessions of a batch that were begun, and their durations, in engine seconds. */
export const batchSessions = sqliteTable(
  "batch_sessions",
  {
    batchId: text()
      .notNull()
      .references(() => batches.id),
    stage: text({ enum: ["experts", "aggregator"] }).notNull(),
    worker: integer().notNull(),
    turn: integer().notNull(),
    state: text({ enum: ["loading", "running", "unloading", "done"] }).notNull(),
    loadSeconds: real(),
    /** Answering time, including the time before a restart of a killed studio. */
    seconds: real(),
  },
  (table) => [primaryKey({ columns: [table.batchId, table.stage, table.worker, table.turn] })],
);
