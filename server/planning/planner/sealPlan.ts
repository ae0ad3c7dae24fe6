import { planHashes } from "@/server/contracts/gateway/planHash";
import { type Plan, planSchema, type UnsealedPlan } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";

const unsealedSchema = planSchema.omit({ id: true, topologyHash: true, policyHash: true });

/**
 * Seals a draft into an immutable plan: validates it, hashes it, dates it.
 * @throws ZodError when the draft breaks the schema: a bug of the planner, never the operator's input.
 */
export function sealPlan<Policy extends PolicyDocument>(
  draft: UnsealedPlan & { readonly policy: Policy },
  createdAt: Date,
): Plan & { policy: Policy } {
  const dated = { ...draft, rule: 2, metadata: { name: draft.metadata.name, createdAt: createdAt.toISOString() } };
  const plan = { ...unsealedSchema.parse(dated), policy: draft.policy };
  return { ...plan, ...planHashes(plan) };
}
