import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { GatewayPlace } from "@/server/contracts/gateway/gatewayPlace";
import type { ClusterSummary, ControlChange, JudgeRecord, Schedule } from "@/server/contracts/studio";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { ScheduleMemory } from "../documents/scheduleMemory";
import { plans } from "./plans";

export const clusters = sqliteTable("clusters", {
  id: text().primaryKey(),
  createdAt: text().notNull(),
  spec: text({ mode: "json" }).$type<ClusterSpec>().notNull(),
  suggested: text({ mode: "json" }).$type<ClusterSummary["suggested"]>(),
  runningPlanId: text().references(() => plans.id),
  runningSince: text(),
  /** How to reach its parts, validated at every read; null: only described, or embedded. */
  connection: text({ mode: "json" }).$type<{ readonly kind: string }>(),
  /** null: none, or the embedded cluster's. */
  gateway: text({ mode: "json" }).$type<GatewayPlace>(),
  /** The stored data of the judge outside of its plans; null: none yet. */
  judge: text({ mode: "json" }).$type<JudgeRecord>(),
});

export const schedules = sqliteTable("schedules", {
  clusterId: text()
    .primaryKey()
    .references(() => clusters.id),
  schedule: text({ mode: "json" }).$type<Schedule>().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  setBy: text().notNull(),
  setAt: text().notNull(),
  memory: text("last", { mode: "json" }).$type<ScheduleMemory>(),
});

/** Changes of the controls of policies in force, each with its forecast. */
export const controlChanges = sqliteTable(
  "control_changes",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    clusterId: text()
      .notNull()
      .references(() => clusters.id),
    at: text().notNull(),
    actor: text().notNull(),
    reason: text().notNull(),
    planId: text().notNull(),
    hashBefore: text().notNull(),
    hashAfter: text().notNull(),
    from: text({ mode: "json" }).$type<ControlChange["from"]>().notNull(),
    to: text({ mode: "json" }).$type<ControlChange["to"]>().notNull(),
    forecast: text({ mode: "json" }).$type<NonNullable<ControlChange["forecast"]>>(),
  },
  (table) => [index("control_changes_by_cluster").on(table.clusterId, table.id)],
);
