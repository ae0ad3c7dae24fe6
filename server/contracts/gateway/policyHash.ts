import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import type { PolicyDocument } from "@/solver/plan/policySchema";

/** The name of what a policy does: SHA-256 of its canonical form. */
export function policyHash(policy: PolicyDocument): string {
  return createHash("sha256")
    .update(canonicalJson(policy as unknown as Json))
    .digest("hex");
}
