import { index, integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AuditObject, AuditOutcome } from "@/server/contracts/studio";
import { clusters } from "./clusters";

/** Only hashes are stored: reading the file gives no access. */
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

/**
 * Append-only: triggers of the migration refuse other writes, and each line's hash covers the line before it (`audit/auditChain`). A
 * migration that makes the table anew must make the triggers anew.
 */
export const audit = sqliteTable(
  "audit",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    at: text().notNull(),
    actor: text().notNull(),
    action: text().notNull(),
    subject: text().notNull(),
    detail: text().notNull(),
    outcome: text().$type<AuditOutcome>().notNull().default("done"),
    objectKind: text().$type<AuditObject>(),
    objectId: text(),
    clusterId: text(),
    role: text(),
    address: text(),
    times: integer().notNull().default(1),
    /** Empty in lines of earlier versions until the store is opened, which chains them. */
    hash: text().notNull().default(""),
  },
  (table) => [index("audit_by_time").on(table.at, table.id)],
);

/**
 * The last line of each gateway's own audit that was copied into the studio's: with its time, since a gateway that lost its state counts
 * from 1 again.
 */
export const gatewayAudits = sqliteTable("gateway_audits", {
  clusterId: text()
    .primaryKey()
    .references(() => clusters.id),
  sequence: integer().notNull(),
  atMs: real().notNull(),
});
