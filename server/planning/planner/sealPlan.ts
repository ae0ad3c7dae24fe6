import { createHash } from "node:crypto";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import { type Plan, planSchema, type UnsealedPlan } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";

const sha256Hex = (text: string): string => createHash("sha256").update(text).digest("hex");

type Hashed = Pick<Plan, "deployment" | "policy" | "inputs">;

/** A plan's three hashes: of its topology, of its policy, and the id that covers both and the plan's cluster. */
export function planHashes({ deployment, policy, inputs }: Hashed) {
  return {
    topologyHash: sha256Hex(canonicalJson(deployment as unknown as Json)),
    policyHash: policyHash(policy),
    id: sha256Hex(canonicalJson({ clusterId: inputs.cluster.id, deployment, policy } as unknown as Json)),
  };
}

/** The id of plans that were sealed before ids covered the cluster. */
export const earlierPlanId = ({ deployment, policy }: Hashed): string =>
  sha256Hex(canonicalJson({ deployment, policy } as unknown as Json));

/**
 * Seals a draft into an immutable plan: validates it, hashes its policy and topology, dates it.
 * @throws ZodError when the draft breaks the schema: a bug of the planner, never the operator's input.
 */
export function sealPlan<Policy extends PolicyDocument>(
  draft: UnsealedPlan & { readonly policy: Policy },
  createdAt: Date,
): Plan & { policy: Policy } {
  const sealed = planSchema.parse({
    ...draft,
    ...planHashes(draft),
    metadata: { ...draft.metadata, createdAt: createdAt.toISOString() },
  });
  return { ...sealed, policy: draft.policy };
}
