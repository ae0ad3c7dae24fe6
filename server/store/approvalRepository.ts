import { asc, eq, getTableColumns } from "drizzle-orm";
import type { Approval } from "@/server/contracts/studio";
import type { Database } from "./database";
import { approvals } from "./schema/plans";

/** Approvals, each of one plan, bound to its hash, on one cluster. */
export function createApprovalRepository(db: Database) {
  return {
    insert(approval: Approval): void {
      db.insert(approvals).values(approval).run();
    },
    /** Oldest first. */
    ofPlan(planId: string): readonly Approval[] {
      const { id, ...columns } = getTableColumns(approvals);
      return db.select(columns).from(approvals).where(eq(approvals.planId, planId)).orderBy(asc(id)).all();
    },
    isApproved(planId: string, clusterId: string): boolean {
      return this.ofPlan(planId).some((approval) => approval.clusterId === clusterId);
    },
  };
}
