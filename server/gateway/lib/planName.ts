import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";

/** By what a plan's policy is known. */
export type PlanName = Pick<GatewayConfig, "planId" | "policyHash">;

/** Whether both are the same policy of the same plan. */
export function isSamePlan(one: PlanName, other: PlanName): boolean {
  return one.planId === other.planId && one.policyHash === other.policyHash;
}

/** An id or a hash as people say it. */
export function shortId(id: string): string {
  return id === "" ? "of no id" : id.slice(0, 12);
}
