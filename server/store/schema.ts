import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ApplicationState, ClusterSummary, WorkloadSummary } from "@/server/contracts/studio";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { ClusterSpec, Plan } from "@/solver/plan/plan";
import type { StoredStep } from "./storedStep";

/** Times are ISO 8601 in UTC throughout, so that text order is time order. */
export const workloads = sqliteTable("workloads", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  summary: text({ mode: "json" }).$type<WorkloadSummary>().notNull(),
  /** The encoded workload, compressed. */
  data: blob({ mode: "buffer" }).notNull(),
});

export const plans = sqliteTable("plans", {
  id: text().primaryKey(),
  clusterId: text().notNull(),
  createdAt: text().notNull(),
  document: text({ mode: "json" }).$type<Plan>().notNull(),
});

export const clusters = sqliteTable("clusters", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  spec: text({ mode: "json" }).$type<ClusterSpec>().notNull(),
  suggested: text({ mode: "json" }).$type<ClusterSummary["suggested"]>(),
  runningPlanId: text().references(() => plans.id),
  runningSince: text(),
});

export const approvals = sqliteTable("approvals", {
  id: integer().primaryKey({ autoIncrement: true }),
  planId: text()
    .notNull()
    .references(() => plans.id),
  actor: text().notNull(),
  at: text().notNull(),
  reason: text().notNull(),
});

export const applications = sqliteTable(
  "applications",
  {
    id: text().primaryKey(),
    clusterId: text()
      .notNull()
      .references(() => clusters.id),
    planId: text().references(() => plans.id),
    previousPlanId: text().references(() => plans.id),
    kind: text({ enum: ["apply", "rollback"] }).notNull(),
    state: text().$type<ApplicationState>().notNull(),
    startedAt: text().notNull(),
    endedAt: text(),
    graceEndsAt: text(),
    steps: text({ mode: "json" }).$type<readonly StoredStep[]>().notNull(),
    error: text(),
    actor: text().notNull(),
    /** Set when an operator aborted it: what was done is being undone. */
    undoing: integer({ mode: "boolean" }).notNull(),
  },
  (table) => [index("applications_by_cluster").on(table.clusterId, table.startedAt)],
);

export const audit = sqliteTable("audit", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  detail: text().notNull(),
});

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

/** Only hashes are stored: reading the file lets nobody in. */
export const sessions = sqliteTable("sessions", {
  hash: text().primaryKey(),
  name: text().notNull(),
  createdAt: text().notNull(),
  expiresAt: text().notNull(),
});

export const signInLinks = sqliteTable("sign_in_links", {
  hash: text().primaryKey(),
  createdAt: text().notNull(),
  expiresAt: text().notNull(),
  usedAt: text(),
});
