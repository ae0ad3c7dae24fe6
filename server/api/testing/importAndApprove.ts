import type { Plan } from "@/solver/plan/plan";
import type { PlanService } from "../plans/planService";

/** Imports a plan and approves it on a cluster. Returns the plan that is kept: figures that were computed again have another id. */
export async function importAndApprove(plans: PlanService, plan: Plan, clusterId: string): Promise<Plan> {
  const imported = await plans.importDocument(plan, "a");
  if (!imported.ok) throw new Error(imported.message);
  const kept = plans.get(imported.id);
  const hash = kept?.approvalHashes[clusterId];
  if (kept === null || hash === undefined) throw new Error(`There is no cluster ${clusterId}.`);
  const approved = plans.approve({ planId: imported.id, clusterId, hash, reason: "" }, "a");
  if (!approved.ok) throw new Error(approved.message);
  return kept.plan;
}
