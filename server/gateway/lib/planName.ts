import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";

/** Identifies a plan's policy. */
export type PlanName = Pick<GatewayConfig, "planId" | "policyHash">;

/** Whether both are the same policy of the same plan. */
export function isSamePlan(one: PlanName, other: PlanName): boolean {
  return one.planId === other.planId && one.policyHash === other.policyHash;
}

/** An id or a hash in short form. */
export function shortId(id: string): string {
  return id === "" ? "of no id" : id.slice(0, 12);
}
