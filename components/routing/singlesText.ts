import { modelsOf, type PolicyDocument, singlesPolicyOf } from "@/solver/plan/policySchema";

/** How a just-in-time policy serves requests outside workflows, in a few words; null for other policies, which serve all requests alike. */
export function singlesText(policy: PolicyDocument): string | null {
  if (policy.kind !== "just-in-time") return null;
  const singles = singlesPolicyOf(policy);
  const models = singles === null ? modelsOf(policy).slice(-1) : modelsOf(singles);
  const between = singles?.kind === "slack" ? " or " : " → ";
  return `outside workflows ${models.join(between)}${singles?.kind === "slack" ? " by slack dispatch" : ""}`;
}
