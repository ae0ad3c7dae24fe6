import { and, eq, gt, isNull, lt } from "drizzle-orm";
import type { Database } from "./database";
import { sessions, signInLinks } from "./schema/users";

/** Sessions and one-time sign-in links, both known by hash only. */
export function createSessionRepository(db: Database) {
  return {
    insertLink(link: { readonly hash: string; readonly createdAt: string; readonly expiresAt: string }): void {
      db.insert(signInLinks).values(link).run();
    },
    /** Marks an unused, unexpired link as used; false if there is none. One statement, so that two requests cannot both succeed. */
    consumeLink(hash: string, now: string): boolean {
      const unused = and(eq(signInLinks.hash, hash), isNull(signInLinks.usedAt), gt(signInLinks.expiresAt, now));
      return db.update(signInLinks).set({ usedAt: now }).where(unused).run().changes === 1;
    },
    insert(session: { readonly hash: string; readonly name: string; readonly createdAt: string; readonly expiresAt: string }): void {
      db.insert(sessions).values(session).run();
    },
    /** The unexpired session of that hash. */
    find(hash: string, now: string): { readonly hash: string; readonly name: string } | null {
      const { hash: key, name } = sessions;
      const row = db
        .select({ hash: key, name })
        .from(sessions)
        .where(and(eq(key, hash), gt(sessions.expiresAt, now)))
        .get();
      return row ?? null;
    },
    remove(hash: string): void {
      db.delete(sessions).where(eq(sessions.hash, hash)).run();
    },
    /** Deletes expired ones. */
    prune(now: string): void {
      db.delete(sessions).where(lt(sessions.expiresAt, now)).run();
      db.delete(signInLinks).where(lt(signInLinks.expiresAt, now)).run();
    },
  };
}
