import { asc, eq } from "drizzle-orm";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { ClusterSpec } from "@/solver/plan/plan";
import type { Database } from "./database";
import { clusters } from "./schema";

export type ClusterRow = typeof clusters.$inferSelect;

/** Clusters, and which plan is in force on each. */
export function createClusterRepository(db: Database) {
  return {
    insert(spec: ClusterSpec, createdAt: string): void {
      db.insert(clusters).values({ id: spec.id, createdAt, spec }).run();
    },
    /** Hardware of a cluster that was started with other GPUs than last time. */
    respecify(spec: ClusterSpec): void {
      db.update(clusters).set({ spec }).where(eq(clusters.id, spec.id)).run();
    },
    suggest(id: string, suggested: ClusterSummary["suggested"]): void {
      db.update(clusters).set({ suggested }).where(eq(clusters.id, id)).run();
    },
    /** Oldest first: the embedded cluster leads. */
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
