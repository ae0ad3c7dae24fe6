import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { Candidate } from "@/server/contracts/gateway/gatewayControls";
import { formOfHash, policyHash } from "@/server/contracts/gateway/policyHash";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { type ApiError, badRequest, conflict } from "../http/apiError";
import type { ArtifactStore } from "../prediction/artifactStore";
import { configRefusal } from "../serving/configRefusal";

/** Why a candidate cannot run with the present engines, judge and predictors; null if it can. */
export function candidateRefusal(
  { planId, policyHash: stated, policy }: Candidate,
  config: GatewayConfig | null,
  artifacts: ArtifactStore,
): ApiError | null {
  const refusal = policyRefusal(policy);
  if (refusal !== null) return badRequest(refusal);
  const mismatch = hashRefusal({ policy, policyHash: stated });
  if (mismatch !== null) return badRequest(mismatch);
  if (config === null) return conflict("No configuration is in force yet; apply a plan first.");
  const unservable = configRefusal({ ...config, planId, policyHash: stated, policy }) ?? artifacts.refusal(policy);
  return unservable === null ? null : conflict(unservable);
}

/** Why a policy does not match its hash; null if it does. */
export function hashRefusal({ policy, policyHash: stated }: Pick<Candidate, "policy" | "policyHash">): string | null {
  if (formOfHash(policy, stated) !== null) return null;
  return `The policy hash is ${JSON.stringify(stated.slice(0, 80))}, but the policy's own is ${policyHash(policy)}.`;
}
