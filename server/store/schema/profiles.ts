import { sql } from "drizzle-orm";
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ProfileJob, ProfileRequest, UnscoredKind } from "@/server/contracts/studio";
import { promptSets } from "./prompts";

export const profiles = sqliteTable("profiles", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  actor: text().notNull(),
  promptSetId: text()
    .notNull()
    .references(() => promptSets.id),
  request: text({ mode: "json" }).$type<ProfileRequest>().notNull(),
  state: text().$type<ProfileJob["state"]>().notNull(),
  pause: text({ mode: "json" }).$type<ProfileJob["pause"]>(),
  /** Models that were found not to report log probabilities; null: none. */
  withoutLogprobs: text({ mode: "json" }).$type<readonly string[]>(),
});

/**
 * One call of a profile: a model's answer to a prompt, or a reading of that answer by a measure. `asked` is written before the call, so
 * that after a kill it is known which calls may have been paid for without a record.
 */
export const profileCalls = sqliteTable(
  "profile_calls",
  {
    profileId: text()
      .notNull()
      .references(() => profiles.id),
    position: integer().notNull(),
    model: text().notNull(),
    /** Empty: the answer itself. */
    measureId: text().notNull(),
    /** Counts readings of one answer by one measure, and both orders of a pair; 0 for answers. */
    reading: integer().notNull(),
    /** `waiting`: an attempt failed, or was cut off before any data, and it is asked again. */
    state: text({ enum: ["asked", "waiting", "done", "failed"] }).notNull(),
    /** The number of attempts. */
    attempts: integer().notNull(),
    /** Attempts that a killed studio lost: they were repeated. */
    lost: integer().notNull().default(0),
    at: text().notNull(),
    /** Its cost; lost attempts count with their highest possible cost. */
    usd: real().notNull(),
    inputTokens: integer(),
    outputTokens: integer(),
    ttftSeconds: real(),
    seconds: real(),
    /** Engine that answered, and the job's concurrent calls there, this one included. */
    engine: text(),
    inFlight: integer(),
    score: real(),
    unscored: text().$type<UnscoredKind>(),
    failure: text(),
    /** 1: the engine ended it at its token limit. */
    cut: integer(),
    /** Confidence of an answer by its token probabilities, 0..100, in the measure of the profile's request; null: not reported. */
    confidence: real(),
    /** Text of the answer; null once it is judged and must not be stored, or is deleted. */
    answer: text(),
  },
  (table) => [
    primaryKey({ columns: [table.profileId, table.position, table.model, table.measureId, table.reading] }),
    index("kept_answers").on(table.profileId, table.measureId, table.position, table.model).where(sql`answer is not null`),
  ],
);

/**
 * Sums over calls of a profile with equal keys, so that a job's half million rows are not read for a summary. Triggers on `profile_calls`
 * (migration 0010) maintain it; a text is empty if the call has none.
 */
export const profileSums = sqliteTable(
  "profile_sums",
  {
    profileId: text()
      .notNull()
      .references(() => profiles.id),
    model: text().notNull(),
    measureId: text().notNull(),
    reading: integer().notNull(),
    state: text({ enum: ["asked", "waiting", "done", "failed"] }).notNull(),
    unscored: text().$type<UnscoredKind | "">().notNull(),
    failure: text().notNull(),
    calls: integer().notNull(),
    lost: integer().notNull(),
    usd: real().notNull(),
    inputTokens: integer().notNull(),
    outputTokens: integer().notNull(),
    /** Calls whose output tokens are known. */
    withOutput: integer().notNull(),
    seconds: real().notNull(),
    /** Calls whose seconds are known. */
    timed: integer().notNull(),
    score: real().notNull(),
    scored: integer().notNull(),
    cut: integer().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.profileId, table.model, table.measureId, table.reading, table.state, table.unscored, table.failure],
    }),
  ],
);

/** Manual labels of answers. `otherModel` is empty if one answer was labelled alone. */
export const handLabels = sqliteTable(
  "hand_labels",
  {
    profileId: text()
      .notNull()
      .references(() => profiles.id),
    position: integer().notNull(),
    model: text().notNull(),
    otherModel: text().notNull(),
    quality: real().notNull(),
    actor: text().notNull(),
    at: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.profileId, table.position, table.model, table.otherModel] })],
);

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
