import { and, asc, eq, isNull } from "drizzle-orm";
import type { Role } from "@/server/contracts/studio";
import type { Database } from "./database";
import { accessSettings, users } from "./schema/users";

export type StoredUser = typeof users.$inferSelect;

const onlyRow = 1;

/** People who may sign in, and the settings of their access. */
export function createUserRepository(db: Database) {
  return {
    insert(user: typeof users.$inferInsert): void {
      db.insert(users).values(user).run();
    },
    get(id: string): StoredUser | null {
      return db.select().from(users).where(eq(users.id, id)).get() ?? null;
    },
    /** The person of an OpenID provider. */
    bySubject(issuer: string, subject: string): StoredUser | null {
      return (
        db
          .select()
          .from(users)
          .where(and(eq(users.issuer, issuer), eq(users.subject, subject)))
          .get() ?? null
      );
    },
    byName(name: string): StoredUser | null {
      return db.select().from(users).where(eq(users.name, name)).get() ?? null;
    },
    /** The person who holds the terminal of the studio's machine. */
    local(): StoredUser | null {
      return db.select().from(users).where(isNull(users.issuer)).orderBy(asc(users.createdAt)).get() ?? null;
    },
    list(): readonly StoredUser[] {
      return db.select().from(users).orderBy(asc(users.name)).all();
    },
    update(
      id: string,
      change: { readonly name?: string; readonly role?: Role; readonly lastSignInAt?: string; readonly disabledAt?: string | null },
    ): void {
      db.update(users).set(change).where(eq(users.id, id)).run();
    },
    fourEyes(): boolean {
      return db.select({ fourEyes: accessSettings.fourEyes }).from(accessSettings).get()?.fourEyes ?? false;
    },
    setFourEyes(fourEyes: boolean): void {
      db.insert(accessSettings)
        .values({ id: onlyRow, fourEyes })
        .onConflictDoUpdate({ target: accessSettings.id, set: { fourEyes } })
        .run();
    },
  };
}
