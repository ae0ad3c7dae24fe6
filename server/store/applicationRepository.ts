import { count, desc, eq, inArray, sql } from "drizzle-orm";
import type { Application, ApplicationState } from "@/server/contracts/studio";
import type { Database } from "./database";
import type { StoredStep } from "./documents/storedStep";
import { applications } from "./schema/applications";

/** A stored application: its steps describe their actions, so that it can continue after a restart. */
export interface StoredApplication extends Omit<Application, "steps"> {
  readonly steps: readonly StoredStep[];
}

/** States of an unfinished application. */
const openStates: readonly ApplicationState[] = ["grace", "running", "paused"];

/** Applications of plans, written before and after every step. */
export function createApplicationRepository(db: Database) {
  return {
    save(application: StoredApplication): void {
      const { id: _, ...changes } = application;
      db.insert(applications).values(application).onConflictDoUpdate({ target: applications.id, set: changes }).run();
    },
    get(id: string): StoredApplication | null {
      return db.select().from(applications).where(eq(applications.id, id)).get() ?? null;
    },
    /** Newest first. */
    list(clusterId: string): readonly StoredApplication[] {
      return db.select().from(applications).where(eq(applications.clusterId, clusterId)).orderBy(desc(applications.startedAt)).all();
    },
    /** The number in each state, over all clusters. */
    counts() {
      const { kind, state } = applications;
      return db.select({ kind, state, count: count() }).from(applications).groupBy(kind, state).all();
    },
    /** Those whose plan is being verified, or must be rolled back, on any cluster. */
    verifying(): readonly StoredApplication[] {
      const { verification } = applications;
      const isOpen = sql`json_extract(${verification}, '$.state') = 'watching' or json_extract(${verification}, '$.rollBackDue') is not null`;
      return db.select().from(applications).where(isOpen).all();
    },
    /** Unfinished ones, on any cluster. */
    open(): readonly StoredApplication[] {
      return db
        .select()
        .from(applications)
        .where(inArray(applications.state, [...openStates]))
        .all();
    },
  };
}
