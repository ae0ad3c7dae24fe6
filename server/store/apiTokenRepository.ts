import { and, desc, eq, gt, isNull } from "drizzle-orm";
import type { Caller, Role } from "@/server/contracts/studio";
import type { Database } from "./database";
import { apiTokens, users } from "./schema/users";

/** Keys of programs, known by hash only. */
export function createApiTokenRepository(db: Database) {
  return {
    insert(token: typeof apiTokens.$inferInsert): void {
      db.insert(apiTokens).values(token).run();
    },
    /** The caller of an unexpired, unrevoked token whose maker may still sign in, with the maker's present role. */
    find(hash: string, now: string): { readonly caller: Caller; readonly makerRole: Role; readonly lastUsedAt: string | null } | null {
      const { id, label, role, createdBy, lastUsedAt } = apiTokens;
      const row = db
        .select({ id, label, role, createdBy, lastUsedAt, maker: users.name, makerRole: users.role })
        .from(apiTokens)
        .innerJoin(users, eq(users.id, createdBy))
        .where(and(eq(apiTokens.hash, hash), gt(apiTokens.expiresAt, now), isNull(apiTokens.revokedAt), isNull(users.disabledAt)))
        .get();
      if (row === undefined) return null;
      const caller: Caller = {
        kind: "token",
        id: row.id,
        userId: row.createdBy,
        name: `token ${row.label} of ${row.maker}`,
        role: row.role,
      };
      return { caller, makerRole: row.makerRole, lastUsedAt: row.lastUsedAt };
    },
    /** Ids of all that `find` would find. */
    validIds(now: string): readonly string[] {
      return db
        .select({ id: apiTokens.id })
        .from(apiTokens)
        .innerJoin(users, eq(users.id, apiTokens.createdBy))
        .where(and(gt(apiTokens.expiresAt, now), isNull(apiTokens.revokedAt), isNull(users.disabledAt)))
        .all()
        .map(({ id }) => id);
    },
    touch(id: string, now: string): void {
      db.update(apiTokens).set({ lastUsedAt: now }).where(eq(apiTokens.id, id)).run();
    },
    /** Newest first, without hashes. */
    list() {
      const { id, label, role, createdAt, expiresAt, lastUsedAt, revokedAt } = apiTokens;
      return db
        .select({ id, label, role, createdBy: users.name, createdAt, expiresAt, lastUsedAt, revokedAt })
        .from(apiTokens)
        .innerJoin(users, eq(users.id, apiTokens.createdBy))
        .orderBy(desc(createdAt))
        .all();
    },
    /** The label of the token that was revoked by this; null where there is none, or it was revoked before. */
    revoke(id: string, now: string): string | null {
      const valid = and(eq(apiTokens.id, id), isNull(apiTokens.revokedAt));
      return db.update(apiTokens).set({ revokedAt: now }).where(valid).returning({ label: apiTokens.label }).get()?.label ?? null;
    },
  };
}
