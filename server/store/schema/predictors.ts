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

/** Which profile, built in or fitted, plans are made with: the last line holds. Lines are only ever added. */
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
  /** What it was trained on and how; its error on prompts it had not seen. */
  training: text({ mode: "json" }).$type<ArtefactTraining>().notNull(),
  heldOut: text({ mode: "json" }).$type<HeldOutError>().notNull(),
  bytes: blob({ mode: "buffer" }).notNull(),
});
