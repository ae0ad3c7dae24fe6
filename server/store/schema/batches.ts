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
  /** What was asked, with the ensemble as it was, where each session runs and which prompts it has. */
  order: text({ mode: "json" }).$type<BatchOrder>().notNull(),
  state: text().$type<BatchState>().notNull(),
  pause: text({ mode: "json" }).$type<BatchSummary["pause"]>(),
});

/**
 * One call of a batch: an expert's answer to a prompt, or the aggregator's. `asked` is written before it is made, so that a studio that was killed makes
 * again only what may have come to nothing.
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
    /** How often it was begun, and how many of these a killed studio lost. */
    attempts: integer().notNull(),
    lost: integer().notNull().default(0),
    at: text().notNull(),
    engine: text(),
    inputTokens: integer(),
    outputTokens: integer(),
    seconds: real(),
    failure: text(),
    /** null: nothing could be read off the answer. */
    vote: text(),
    answer: text(),
  },
  (table) => [primaryKey({ columns: [table.batchId, table.stage, table.position, table.model] })],
);

/** Sessions of a batch that were begun, and what they took, in engine seconds. */
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
    /** Of answering, those before a killed studio was started again included. */
    seconds: real(),
  },
  (table) => [primaryKey({ columns: [table.batchId, table.stage, table.worker, table.turn] })],
);
