import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ArtefactTraining } from "@/server/contracts/studio";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { HeldOutError } from "@/solver/prediction/predictor";
import type { ScoredModel } from "../documents/confidenceScores";

/** Engine profiles fitted to the operator's own runs. */
export const calibrations = sqliteTable("calibrations", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  actor: text().notNull(),
  profile: text({ mode: "json" }).$type<EngineProfile>().notNull(),
});

/** The profile, built in or fitted, used for plans: the last row is valid. Append-only. */
export const profileUses = sqliteTable("profile_uses", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text().notNull(),
  actor: text().notNull(),
  profileId: text().notNull(),
});

/** Trained predictors, each by the SHA-256 of its bytes; `version` counts those of the same kind and workload. */
export const artefacts = sqliteTable("artefacts", {
  hash: text().primaryKey(),
  kind: text({ enum: ["lengths", "confidence", "configurations"] }).notNull(),
  version: integer().notNull(),
  createdAt: text().notNull(),
  actor: text().notNull(),
  /** Its training data and method; its error on held-out prompts. */
  training: text({ mode: "json" }).$type<ArtefactTraining>().notNull(),
  heldOut: text({ mode: "json" }).$type<HeldOutError>().notNull(),
  bytes: blob({ mode: "buffer" }).notNull(),
});

/** Confidences of a trained predictor for the prompts of its workload, for planning. Predictors of earlier versions have none. */
export const confidenceScores = sqliteTable("confidence_scores", {
  artefactHash: text()
    .primaryKey()
    .references(() => artefacts.hash, { onDelete: "cascade" }),
  /** The models in the order of the scores, each with the hash of its labels by prompt. */
  models: text({ mode: "json" }).$type<readonly ScoredModel[]>().notNull(),
  /** 0..1 as float32, little-endian: by row of the workload's outcome table, then by model. */
  scores: blob({ mode: "buffer" }).notNull(),
});
