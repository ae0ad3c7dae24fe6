import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import { withOldNames } from "@/solver/plan/deprecatedFields";
import type { PolicyDocument } from "@/solver/plan/policySchema";

/** The hash of a policy's behaviour: SHA-256 of its canonical form. */
export function policyHash(policy: PolicyDocument): string {
  return createHash("sha256")
    .update(canonicalJson(policy as unknown as Json))
    .digest("hex");
}

/**
 * A policy in the form that `hash` names: unchanged, or, for a hash from before fields were renamed, with their old names. null: it names
 * neither.
 */
export const formOfHash = <Policy extends PolicyDocument>(policy: Policy, hash: string): Policy | null =>
  [policy, withOldNames(policy)].find((form) => policyHash(form) === hash) ?? null;
