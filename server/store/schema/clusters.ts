import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { GatewayPlace } from "@/server/contracts/gateway/gatewayPlace";
import type { ClusterSummary, JudgeRecord, Schedule } from "@/server/contracts/studio";
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
