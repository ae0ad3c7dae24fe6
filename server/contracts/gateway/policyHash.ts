import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import { withOldNames } from "@/solver/plan/deprecatedFields";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { policyWithOverrides } from "@/solver/policies/policyControls";

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

/** The policy of a configuration with other values of its knobs, inside their approved ranges; a sentence if they cannot be set. */
export function revisedPolicy(
  { policy, policyHash: hash }: { readonly policy: PolicyDocument; readonly policyHash: string },
  knobs: Parameters<typeof policyWithOverrides>[1],
): string | { readonly policy: PolicyDocument; readonly policyHash: string; readonly change: string } {
  const turned = policyWithOverrides(policy, knobs);
  if (typeof turned === "string") return turned;
  // A policy with its original knobs has the hash of its plan again, under old or new field names.
  const old = policyHash(policy) !== hash && formOfHash(policy, hash) !== null;
  return { ...turned, policyHash: policyHash(old ? withOldNames(turned.policy) : turned.policy) };
}
