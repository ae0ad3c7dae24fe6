import { asc, eq } from "drizzle-orm";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { Database } from "./database";
import { clusters } from "./schema/clusters";

export type ClusterRow = typeof clusters.$inferSelect;

/** Clusters, and the plan in force on each. */
export function createClusterRepository(db: Database) {
  return {
    /**
     * `connection`: how to reach it; absent: it is only described, or embedded. `gateway` null: one that the studio runs, with ports still
     * to be assigned.
     */
    insert(spec: ClusterSpec, createdAt: string, attached?: Pick<ClusterRow, "connection" | "gateway">): void {
      db.insert(clusters)
        .values({ id: spec.id, createdAt, spec, ...attached })
        .run();
    },
    setConnection(id: string, connection: ClusterRow["connection"]): void {
      db.update(clusters).set({ connection }).where(eq(clusters.id, id)).run();
    },
    setGateway(id: string, gateway: ClusterRow["gateway"]): void {
      db.update(clusters).set({ gateway }).where(eq(clusters.id, id)).run();
    },
    setJudge(id: string, judge: ClusterRow["judge"]): void {
      db.update(clusters).set({ judge }).where(eq(clusters.id, id)).run();
    },
    /** Updates the hardware, prices or kind of a cluster. */
    respecify(spec: ClusterSpec): void {
      db.update(clusters).set({ spec }).where(eq(clusters.id, spec.id)).run();
    },
    suggest(id: string, suggested: ClusterSummary["suggested"]): void {
      db.update(clusters).set({ suggested }).where(eq(clusters.id, id)).run();
    },
    /** Oldest first: the embedded cluster is the first. */
    list(): readonly ClusterRow[] {
      return db.select().from(clusters).orderBy(asc(clusters.createdAt)).all();
    },
    get(id: string): ClusterRow | null {
      return db.select().from(clusters).where(eq(clusters.id, id)).get() ?? null;
    },
    setRunning(id: string, running: { readonly planId: string; readonly since: string } | null): void {
      db.update(clusters)
        .set({ runningPlanId: running?.planId ?? null, runningSince: running?.since ?? null })
        .where(eq(clusters.id, id))
        .run();
    },
  };
}
