import { createHash } from "node:crypto";
import { policyHash } from "@/server/contracts/policyHash";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import { type Plan, planSchema, type UnsealedPlan } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";

const sha256Hex = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The three hashes of a plan's two halves: topology, policy, and the id that covers both. */
export function planHashes(parts: Pick<Plan, "deployment" | "policy">) {
  return {
    topologyHash: sha256Hex(canonicalJson(parts.deployment as unknown as Json)),
    policyHash: policyHash(parts.policy),
    id: sha256Hex(canonicalJson({ deployment: parts.deployment, policy: parts.policy } as unknown as Json)),
  };
}

/**
 * Seals a draft into an immutable plan: validates it, hashes topology and policy, dates it.
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
