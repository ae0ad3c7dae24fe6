import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
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

export const audit = sqliteTable("audit", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  detail: text().notNull(),
});

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
