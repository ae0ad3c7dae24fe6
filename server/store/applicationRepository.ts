import { count, desc, eq, inArray, sql } from "drizzle-orm";
import type { Application, ApplicationState } from "@/server/contracts/studio";
import type { Database } from "./database";
import type { StoredStep } from "./documents/storedStep";
import { applications } from "./schema/applications";

/** An application as kept: its steps say what they do, so that it can go on after a restart. */
export interface StoredApplication extends Omit<Application, "steps"> {
  readonly steps: readonly StoredStep[];
}

/** States in which an application still has something to do. */
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
    /** How many there are in each state, of all clusters. */
    counts() {
      const { kind, state } = applications;
      return db.select({ kind, state, count: count() }).from(applications).groupBy(kind, state).all();
    },
    /** Those whose plan is still held against its promises, or is to be rolled back for them, on any cluster. */
    verifying(): readonly StoredApplication[] {
      const { verification } = applications;
      const isOpen = sql`json_extract(${verification}, '$.state') = 'watching' or json_extract(${verification}, '$.rollBackDue') is not null`;
      return db.select().from(applications).where(isOpen).all();
    },
    /** Those that were not finished, on any cluster. */
    open(): readonly StoredApplication[] {
      return db
        .select()
        .from(applications)
        .where(inArray(applications.state, [...openStates]))
        .all();
    },
  };
}
