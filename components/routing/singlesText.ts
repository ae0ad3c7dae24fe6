import { modelsOf, type PolicyDocument, stagedPolicyOf } from "@/solver/plan/policySchema";

/** How a just-in-time policy serves requests outside workflows, in a few words; null for other policies, which serve all requests alike. */
export function singlesText(policy: PolicyDocument): string | null {
  if (policy.kind !== "just-in-time") return null;
  const staged = stagedPolicyOf(policy);
  const models = staged === null ? modelsOf(policy).slice(-1) : modelsOf(staged);
  const between = staged?.kind === "slack" ? " or " : " → ";
  return `outside workflows ${models.join(between)}${staged?.kind === "slack" ? " by slack dispatch" : ""}`;
}
