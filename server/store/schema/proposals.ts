import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Proposal, ProposalState } from "@/server/contracts/studio";
import type { WatchedTraffic } from "../documents/watchedTraffic";
import { clusters } from "./clusters";
import { plans } from "./plans";

/** Live traffic compared with the plan in force, so that a restarted studio continues from it. */
export const trafficWatches = sqliteTable("traffic_watches", {
  clusterId: text()
    .primaryKey()
    .references(() => clusters.id),
  planId: text()
    .notNull()
    .references(() => plans.id),
  traffic: text({ mode: "json" }).$type<WatchedTraffic>().notNull(),
});

export const proposals = sqliteTable(
  "proposals",
  {
    id: text().primaryKey(),
    clusterId: text()
      .notNull()
      .references(() => clusters.id),
    createdAt: text().notNull(),
    state: text().$type<ProposalState>().notNull(),
    closed: text({ mode: "json" }).$type<Proposal["closed"]>(),
    runningPlanId: text()
      .notNull()
      .references(() => plans.id),
    planId: text()
      .notNull()
      .references(() => plans.id),
    driftedSince: text().notNull(),
    drifted: text({ mode: "json" }).$type<Proposal["drifted"]>().notNull(),
    reason: text().notNull(),
    gain: text({ mode: "json" }).$type<Proposal["gain"]>().notNull(),
    change: text({ mode: "json" }).$type<Proposal["change"]>().notNull(),
    basis: text({ mode: "json" }).$type<Proposal["basis"]>().notNull(),
  },
  (table) => [index("proposals_by_cluster").on(table.clusterId, table.createdAt)],
);
