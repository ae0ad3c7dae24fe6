import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ArtefactTraining } from "@/server/contracts/studio";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { HeldOutError } from "@/solver/prediction/predictor";

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
