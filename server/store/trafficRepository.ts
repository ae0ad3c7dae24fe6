import { eq } from "drizzle-orm";
import type { Database } from "./database";
import type { WatchedTraffic } from "./documents/watchedTraffic";
import { trafficWatches } from "./schema/proposals";

export interface TrafficRow {
  readonly clusterId: string;
  readonly planId: string;
  readonly traffic: WatchedTraffic;
}

/** State of each cluster's traffic: one row per cluster, for the plan in force. */
export function createTrafficRepository(db: Database) {
  return {
    save({ clusterId, planId, traffic }: TrafficRow): void {
      const changes = { planId, traffic };
      db.insert(trafficWatches)
        .values({ clusterId, ...changes })
        .onConflictDoUpdate({ target: trafficWatches.clusterId, set: changes })
        .run();
    },
    remove(clusterId: string): void {
      db.delete(trafficWatches).where(eq(trafficWatches.clusterId, clusterId)).run();
    },
    get(clusterId: string): TrafficRow | null {
      return db.select().from(trafficWatches).where(eq(trafficWatches.clusterId, clusterId)).get() ?? null;
    },
  };
}
