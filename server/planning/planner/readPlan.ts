import { earlierPlanIds, planHashes } from "@/server/contracts/gateway/planHash";
import { formOfHash } from "@/server/contracts/gateway/policyHash";
import type { Outcome } from "@/server/contracts/studio";
import { issueSentence } from "@/server/lib/issueSentence";
import { type Plan, planSchema } from "@/solver/plan/plan";
import { policyRefusal } from "@/solver/policies/policyRefusal";

/** Reads an imported plan document: its schema and hashes must be valid, and its policy must be able to run. */
export function readPlan(document: unknown): Outcome<{ readonly plan: Plan }> {
  const parsed = planSchema.safeParse(document);
  if (!parsed.success) return { ok: false, message: `This is not a plan. ${issueSentence(parsed.error)}` };
  const sealed = { ...parsed.data, policy: formOfHash(parsed.data.policy, parsed.data.policyHash) ?? parsed.data.policy };
  const { topologyHash, policyHash, id } = planHashes(sealed);
  const ids = sealed.rule === undefined ? earlierPlanIds(sealed) : [id];
  const hashes = { topologyHash, policyHash, id: ids.includes(sealed.id) ? sealed.id : ids[0] };
  const altered = (["topologyHash", "policyHash", "id"] as const).find((key) => hashes[key] !== sealed[key]);
  if (altered !== undefined)
    return { ok: false, message: `The plan's ${altered} does not match its content: it was changed after it was sealed.` };
  const refusal = policyRefusal(parsed.data.policy);
  return refusal === null ? { ok: true, plan: parsed.data } : { ok: false, message: `The plan's policy cannot run. ${refusal}` };
}
