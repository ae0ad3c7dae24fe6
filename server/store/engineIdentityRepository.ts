import { and, eq, getTableColumns } from "drizzle-orm";
import type { Database } from "./database";
import { engineIdentities } from "./schema/telemetry";

/** An engine's identity as it reports it, the time since when that is known, and the resets of its counters since. */
export type EngineIdentity = Omit<typeof engineIdentities.$inferSelect, "clusterId" | "engineId">;

/** The latest identity of each engine. */
export function createEngineIdentityRepository(db: Database) {
  const { clusterId: _, engineId: __, ...identity } = getTableColumns(engineIdentities);
  return {
    get(clusterId: string, engineId: string): EngineIdentity | null {
      const found = db
        .select(identity)
        .from(engineIdentities)
        .where(and(eq(engineIdentities.clusterId, clusterId), eq(engineIdentities.engineId, engineId)))
        .get();
      return found ?? null;
    },
    /** Of the engines of a cluster, gone ones among them. */
    list(clusterId: string): readonly EngineIdentity[] {
      return db.select(identity).from(engineIdentities).where(eq(engineIdentities.clusterId, clusterId)).all();
    },
    put(clusterId: string, engineId: string, identity: EngineIdentity): void {
      db.insert(engineIdentities)
        .values({ clusterId, engineId, ...identity })
        .onConflictDoUpdate({ target: [engineIdentities.clusterId, engineIdentities.engineId], set: identity })
        .run();
    },
  };
}
