import { approvalRefusal, planWords } from "@/server/clusters/apply/approvalRefusal";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { formOfHash } from "@/server/contracts/gateway/policyHash";
import type { Store } from "@/server/store/store";
import { withPlanControls } from "@/solver/policies/policyControls";

/**
 * Why the studio does not sign other knobs of the configuration that a gateway shows, in a sentence: its plan is not approved there, or its
 * policy is not the stored plan's with other knobs. null: it signs.
 */
export function knobsRefusal(
  store: Pick<Store, "plans" | "approvals">,
  { planId, policy }: Pick<GatewayConfig, "planId" | "policy">,
  clusterId: string,
): string | null {
  const plan = store.plans.get(planId);
  if (plan === null) return `The gateway's plan ${planId.slice(0, 8)} is not stored in this studio: apply an approved plan first.`;
  const unapproved = approvalRefusal(store, planId, clusterId);
  if (unapproved !== null) return unapproved;
  if (formOfHash(withPlanControls(policy, plan.policy), plan.policyHash) !== null) return null;
  return `The gateway's policy is not the one of ${planWords(store, planId)}: apply an approved plan first.`;
}
