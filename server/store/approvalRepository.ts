import { asc, eq } from "drizzle-orm";
import type { Approval } from "@/server/contracts/studio";
import type { Database } from "./database";
import { approvals } from "./schema";

/** Approvals, each bound to a plan's hash. */
export function createApprovalRepository(db: Database) {
  return {
    insert(approval: Approval): void {
      db.insert(approvals).values(approval).run();
    },
    /** Oldest first. */
    ofPlan(planId: string): readonly Approval[] {
      const { planId: plan, actor, at, reason } = approvals;
      return db.select({ planId: plan, actor, at, reason }).from(approvals).where(eq(plan, planId)).orderBy(asc(approvals.id)).all();
    },
  };
}
