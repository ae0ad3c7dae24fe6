import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { AuditObject, AuditOutcome, Role } from "@/server/contracts/studio";
import { clusters } from "./clusters";

/** A person who may sign in. `issuer` and `subject` are those of the OpenID provider; null for the person who holds the machine's terminal. */
export const users = sqliteTable(
  "users",
  {
    id: text().primaryKey(),
    /** Unique: it names the person in the audit. */
    name: text().notNull().unique(),
    issuer: text(),
    subject: text(),
    role: text().$type<Role>().notNull(),
    createdAt: text().notNull(),
    lastSignInAt: text(),
    /** Set: this person may not sign in. */
    disabledAt: text(),
  },
  (table) => [uniqueIndex("users_by_subject").on(table.issuer, table.subject)],
);

/** Only hashes are stored: reading the file gives no access. */
export const sessions = sqliteTable("sessions", {
  id: text().primaryKey(),
  /** Of the cookie. */
  hash: text().notNull().unique(),
  /** Of the page token, the second factor. */
  pageTokenHash: text().notNull(),
  userId: text()
    .notNull()
    .references(() => users.id),
  createdAt: text().notNull(),
  expiresAt: text().notNull(),
  lastUsedAt: text().notNull(),
});

/** `userId` null: the link signs in the person who holds the machine's terminal. */
export const signInLinks = sqliteTable("sign_in_links", {
  hash: text().primaryKey(),
  userId: text().references(() => users.id),
  createdAt: text().notNull(),
  expiresAt: text().notNull(),
  usedAt: text(),
});

/** Keys of programs to the studio's API. */
export const apiTokens = sqliteTable("api_tokens", {
  id: text().primaryKey(),
  hash: text().notNull().unique(),
  label: text().notNull(),
  role: text().$type<Role>().notNull(),
  createdBy: text()
    .notNull()
    .references(() => users.id),
  createdAt: text().notNull(),
  expiresAt: text().notNull(),
  lastUsedAt: text(),
  revokedAt: text(),
});

/** Settings of access that an admin changes in the studio: one row. */
export const accessSettings = sqliteTable("access_settings", {
  id: integer().primaryKey(),
  /** Who made a plan cannot approve it. */
  fourEyes: integer({ mode: "boolean" }).notNull(),
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
