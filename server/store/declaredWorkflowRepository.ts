import { and, asc, desc, eq, isNotNull, max } from "drizzle-orm";
import type { DeclaredWorkflow } from "@/server/contracts/studio/declaredWorkflows";
import type { Database } from "./database";
import { declaredWorkflows } from "./schema/workloads";

/** A stored workflow. */
export type StoredWorkflow = Omit<DeclaredWorkflow, "predictors">;

/** Who saved or removed it, and when. */
interface Kept {
  readonly createdAt: string;
  readonly actor: string;
}

/** Workflows that were declared here, by name. The newest version of a name is valid; none is ever changed. */
export function createDeclaredWorkflowRepository(db: Database) {
  const newest = db
    .select({ name: declaredWorkflows.name, version: max(declaredWorkflows.version).as("newest") })
    .from(declaredWorkflows)
    .groupBy(declaredWorkflows.name)
    .as("newest");

  const versionsOf = (name: string): number =>
    db
      .select({ version: max(declaredWorkflows.version) })
      .from(declaredWorkflows)
      .where(eq(declaredWorkflows.name, name))
      .get()?.version ?? 0;

  function find(name: string): StoredWorkflow | null {
    const row = db
      .select()
      .from(declaredWorkflows)
      .where(eq(declaredWorkflows.name, name))
      .orderBy(desc(declaredWorkflows.version))
      .limit(1)
      .get();
    return row === undefined ? null : storedOf(row);
  }

  return {
    /** Saves it as the next version of its name, which is returned. */
    put({ document, ...kept }: Kept & Pick<StoredWorkflow, "document" | "origin">): number {
      const version = versionsOf(document.name) + 1;
      db.insert(declaredWorkflows)
        .values({ ...kept, name: document.name, version, document })
        .run();
      return version;
    },
    /** null: there is none of that name, or it was removed. */
    find,
    /** By name, without those that were removed. */
    list(): readonly StoredWorkflow[] {
      return db
        .select()
        .from(declaredWorkflows)
        .innerJoin(newest, and(eq(declaredWorkflows.name, newest.name), eq(declaredWorkflows.version, newest.version)))
        .where(isNotNull(declaredWorkflows.document))
        .orderBy(asc(declaredWorkflows.name))
        .all()
        .flatMap(({ declared_workflows: row }) => storedOf(row) ?? []);
    },
    /** Returns whether there was one to remove. Its versions stay, and later versions under the name continue their count. */
    remove(name: string, kept: Kept): boolean {
      const found = find(name);
      if (found === null) return false;
      db.insert(declaredWorkflows)
        .values({ ...kept, name, version: found.version + 1, origin: found.origin, document: null })
        .run();
      return true;
    },
  };
}

function storedOf({ name: _, document, ...row }: typeof declaredWorkflows.$inferSelect): StoredWorkflow | null {
  return document === null ? null : { ...row, document };
}
