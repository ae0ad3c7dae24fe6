import { and, desc, eq, gt, isNull, lt, ne } from "drizzle-orm";
import type { Caller } from "@/server/contracts/studio";
import type { Database } from "./database";
import { sessions, signInLinks, users } from "./schema/users";

/** What is known of a session by its cookie; the caller is valid only together with the page token. */
export interface StoredSession {
  readonly caller: Caller;
  readonly pageTokenHash: string;
  readonly lastUsedAt: string;
}

/** Sessions and one-time sign-in links, both known by hash only. */
export function createSessionRepository(db: Database) {
  return {
    insertLink(link: typeof signInLinks.$inferInsert): void {
      db.insert(signInLinks).values(link).run();
    },
    /**
     * Marks an unused, unexpired link as used; null if there is none. One statement, so that two requests cannot both succeed.
     *
     * @returns the person it signs in; `userId` null: the one at the machine's terminal
     */
    consumeLink(hash: string, now: string): { readonly userId: string | null } | null {
      const unused = and(eq(signInLinks.hash, hash), isNull(signInLinks.usedAt), gt(signInLinks.expiresAt, now));
      return db.update(signInLinks).set({ usedAt: now }).where(unused).returning({ userId: signInLinks.userId }).get() ?? null;
    },
    insert(session: typeof sessions.$inferInsert): void {
      db.insert(sessions).values(session).run();
    },
    /** The session of a cookie's hash that is neither expired nor unused since `idleSince`, of a person who may sign in. */
    find(hash: string, now: string, idleSince: string): StoredSession | null {
      const { id, userId, pageTokenHash, lastUsedAt } = sessions;
      const { name, role } = users;
      const row = db
        .select({ id, userId, pageTokenHash, lastUsedAt, name, role })
        .from(sessions)
        .innerJoin(users, eq(users.id, userId))
        .where(and(eq(sessions.hash, hash), gt(sessions.expiresAt, now), gt(lastUsedAt, idleSince), isNull(users.disabledAt)))
        .get();
      if (row === undefined) return null;
      const caller: Caller = { kind: "session", id: row.id, userId: row.userId, name: row.name, role: row.role };
      return { caller, pageTokenHash: row.pageTokenHash, lastUsedAt: row.lastUsedAt };
    },
    touch(id: string, now: string): void {
      db.update(sessions).set({ lastUsedAt: now }).where(eq(sessions.id, id)).run();
    },
    /** Last used first. */
    list() {
      const { id, userId, createdAt, lastUsedAt, expiresAt } = sessions;
      return db
        .select({ id, userId, userName: users.name, createdAt, lastUsedAt, expiresAt })
        .from(sessions)
        .innerJoin(users, eq(users.id, userId))
        .orderBy(desc(lastUsedAt))
        .all();
    },
    /** Whether there was such a session. */
    remove(id: string): boolean {
      return db.delete(sessions).where(eq(sessions.id, id)).run().changes === 1;
    },
    /** @returns the ids of the removed sessions */
    removeOf(userId: string): readonly string[] {
      return db
        .delete(sessions)
        .where(eq(sessions.userId, userId))
        .returning({ id: sessions.id })
        .all()
        .map(({ id }) => id);
    },
    /** @returns the ids of the removed sessions */
    removeAllBut(id: string): readonly string[] {
      return db
        .delete(sessions)
        .where(ne(sessions.id, id))
        .returning({ id: sessions.id })
        .all()
        .map((removed) => removed.id);
    },
    /** Deletes expired ones. */
    prune(now: string): void {
      db.delete(sessions).where(lt(sessions.expiresAt, now)).run();
      db.delete(signInLinks).where(lt(signInLinks.expiresAt, now)).run();
    },
  };
}
