import { desc, eq } from "drizzle-orm";
import type { Plan } from "@/solver/plan/plan";
import type { Database } from "./database";
import { plans } from "./schema";

/** Kept plans. A plan never changes: keeping one that is there already does nothing. */
export function createPlanRepository(db: Database) {
  return {
    keep(plan: Plan): void {
      db.insert(plans)
        .values({ id: plan.id, clusterId: plan.inputs.cluster.id, createdAt: plan.metadata.createdAt, document: plan })
        .onConflictDoNothing()
        .run();
    },
    get(id: string): Plan | null {
      return db.select({ document: plans.document }).from(plans).where(eq(plans.id, id)).get()?.document ?? null;
    },
    /** Newest first, of one cluster or (null) of all. */
    list(clusterId: string | null): readonly Plan[] {
      const rows = db
        .select({ document: plans.document })
        .from(plans)
        .where(clusterId === null ? undefined : eq(plans.clusterId, clusterId))
        .orderBy(desc(plans.createdAt))
        .all();
      return rows.map((row) => row.document);
    },
  };
}
