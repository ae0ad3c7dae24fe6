import type { Outcome, RerouteRequest } from "@/server/contracts/studio";
import { sealPlan } from "@/server/planning/sealPlan";
import type { Plan } from "@/solver/plan/plan";
import { deployedModelsOf } from "@/solver/plan/policySchema";
import { policyRefusal } from "@/solver/policies/policyRefusal";

/**
 * A plan on the same engines under another policy, as one that the Lab raced. Nothing here predicts what it will do: it keeps the
 * figures of the plan that it was made of, which its notes say first.
 */
export function reroutePlan(base: Plan, { policy, name }: Omit<RerouteRequest, "planId">): Outcome<{ readonly plan: Plan }> {
  const refusal = policyRefusal(policy);
  if (refusal !== null) return { ok: false, message: `The policy cannot run. ${refusal}` };
  const deployed = new Set(base.deployment.map(({ model }) => model));
  const stranger = deployedModelsOf(policy).find((model) => !deployed.has(model));
  if (stranger !== undefined)
    return { ok: false, message: `${stranger} has no engines in the plan ${base.id.slice(0, 8)}: it has ${[...deployed].join(", ")}.` };
  const note = `Quality, latency and shares are those of plan ${base.id.slice(0, 8)}, which routes otherwise: nothing predicts this policy. Race it in the Lab before it is put into force.`;
  const { deployment, inputs, solver, apiVersion, kind } = base;
  const predictions = { ...base.predictions, notes: [note, ...base.predictions.notes] };
  const plan = sealPlan({ apiVersion, kind, deployment, inputs, solver, predictions, policy, metadata: { name } }, new Date());
  return plan.id === base.id ? { ok: false, message: "This is the plan's own policy: nothing would change." } : { ok: true, plan };
}
