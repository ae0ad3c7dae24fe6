import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Plan } from "@/solver/plan/plan";

export const plans = sqliteTable("plans", {
  id: text().primaryKey(),
  clusterId: text().notNull(),
  createdAt: text().notNull(),
  /** Id of the person who saved it first; null: the studio itself, or before this was recorded. */
  maker: text(),
  document: text({ mode: "json" }).$type<Plan>().notNull(),
  /** Why the figures of an imported plan are only claimed by whoever made it, in a sentence; null: they are this studio's own. */
  claimed: text(),
});

export const approvals = sqliteTable("approvals", {
  id: integer().primaryKey({ autoIncrement: true }),
  planId: text()
    .notNull()
    .references(() => plans.id),
  clusterId: text().notNull(),
  actor: text().notNull(),
  at: text().notNull(),
  reason: text().notNull(),
  /** What was approved, see `approvalHash`; null: approved while approvals covered only cluster, deployment and policy. */
  hash: text(),
});
