import { asc, eq, getTableColumns } from "drizzle-orm";
import { approvalHash } from "@/server/contracts/gateway/planHash";
import type { Approval, ApprovalStanding } from "@/server/contracts/studio";
import type { createClusterRepository } from "./clusterRepository";
import type { Database } from "./database";
import type { createPlanRepository } from "./planRepository";
import { approvals } from "./schema/plans";

export interface ApprovalSources {
  readonly plans: Pick<ReturnType<typeof createPlanRepository>, "get">;
  readonly clusters: Pick<ReturnType<typeof createClusterRepository>, "get">;
}

/** Approvals, each of one plan on one cluster, bound to the hash of both as they were. */
export function createApprovalRepository(db: Database, { plans, clusters }: ApprovalSources) {
  /** What an approval of a saved plan binds to now. */
  function hashNow(planId: string, clusterId: string): string | null {
    const plan = plans.get(planId);
    return plan === null ? null : approvalHash({ plan, clusterId, connection: clusters.get(clusterId)?.connection ?? null });
  }
  const { id: inOrder, hash: bound, ...columns } = getTableColumns(approvals);
  return {
    /** Binds the approval to the saved plan and to its cluster as they are now. */
    insert(approval: Approval): void {
      db.insert(approvals)
        .values({ ...approval, hash: hashNow(approval.planId, approval.clusterId) })
        .run();
    },
    /** Oldest first. */
    ofPlan(planId: string): readonly Approval[] {
      return db.select(columns).from(approvals).where(eq(approvals.planId, planId)).orderBy(asc(inOrder)).all();
    },
    /** Oldest first, with whether each is still of what the plan and its cluster are. */
    standing(planId: string): readonly (Approval & { readonly standing: ApprovalStanding })[] {
      const hashes = new Map<string, string | null>();
      const rows = db
        .select({ ...columns, bound })
        .from(approvals)
        .where(eq(approvals.planId, planId))
        .orderBy(asc(inOrder))
        .all();
      return rows.map(({ bound: hash, ...approval }) => {
        const { clusterId } = approval;
        if (hash !== null && !hashes.has(clusterId)) hashes.set(clusterId, hashNow(planId, clusterId));
        return { ...approval, standing: hash === null ? "earlier-rule" : hash === hashes.get(clusterId) ? "valid" : "changed" };
      });
    },
    /** How a plan's approval on a cluster stands: valid if one of them is, else as its last one; null: it was never approved there. */
    standingOn(planId: string, clusterId: string): ApprovalStanding | null {
      const standings = this.standing(planId).flatMap((one) => (one.clusterId === clusterId ? one.standing : []));
      return standings.includes("valid") ? "valid" : (standings.at(-1) ?? null);
    },
  };
}
