import { and, asc, desc, eq, isNotNull, max } from "drizzle-orm";
import type { KeptEnsemble } from "@/server/contracts/studio/ensembles";
import type { Database } from "./database";
import { ensembles } from "./schema/ensembles";

/** Who saved or removed it, and when. */
type Kept = Pick<KeptEnsemble, "createdAt" | "actor">;

/** Ensembles that were saved here, by name. The newest version of a name is valid; none is ever changed. */
export function createEnsembleRepository(db: Database) {
  const newest = db
    .select({ name: ensembles.name, version: max(ensembles.version).as("newest") })
    .from(ensembles)
    .groupBy(ensembles.name)
    .as("newest");

  const latest = (name: string) =>
    db.select().from(ensembles).where(eq(ensembles.name, name)).orderBy(desc(ensembles.version)).limit(1).get();

  return {
    /** Saves it as the next version of its name, which is returned. */
    put({ ensemble, ...kept }: Kept & Pick<KeptEnsemble, "ensemble">): number {
      const version = (latest(ensemble.name)?.version ?? 0) + 1;
      db.insert(ensembles)
        .values({ ...kept, name: ensemble.name, version, document: ensemble })
        .run();
      return version;
    },
    /** null: there is none of that name, or it was removed. */
    find(name: string): KeptEnsemble | null {
      const row = latest(name);
      return row === undefined ? null : keptOf(row);
    },
    /** By name, without those that were removed. */
    list(): readonly KeptEnsemble[] {
      return db
        .select()
        .from(ensembles)
        .innerJoin(newest, and(eq(ensembles.name, newest.name), eq(ensembles.version, newest.version)))
        .where(isNotNull(ensembles.document))
        .orderBy(asc(ensembles.name))
        .all()
        .flatMap(({ ensembles: row }) => keptOf(row) ?? []);
    },
    /** Whether any was ever saved, including removed ones. */
    everKept(): boolean {
      return db.select({ name: ensembles.name }).from(ensembles).limit(1).get() !== undefined;
    },
    /** Returns whether there was one to remove. Its versions stay, and later versions under the name continue their count. */
    remove(name: string, kept: Kept): boolean {
      const found = latest(name);
      if (found === undefined || found.document === null) return false;
      db.insert(ensembles)
        .values({ ...kept, name, version: found.version + 1, document: null })
        .run();
      return true;
    },
  };
}

function keptOf({ name: _, document, ...row }: typeof ensembles.$inferSelect): KeptEnsemble | null {
  return document === null ? null : { ...row, ensemble: document };
}
