import type { Outcome, RerouteRequest } from "@/server/contracts/studio";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { canonicalJson } from "@/solver/plan/canonical";
import type { Plan } from "@/solver/plan/plan";
import { deployedModelsOf, type PolicyDocument } from "@/solver/plan/policySchema";
import { policyRefusal } from "@/solver/policies/policyRefusal";

/**
 * A plan on the same engines under another policy, for example one that the Lab compared. There is no prediction for it: it keeps the
 * figures of its base plan, which is its first note.
 *
 * @param told its further notes, a sentence each.
 */
export function reroutePlan(
  base: Plan,
  { policy, name }: Omit<RerouteRequest, "planId">,
  told: readonly string[] = [],
): Outcome<{ readonly plan: Plan }> {
  const refusal = policyRefusal(policy);
  if (refusal !== null) return { ok: false, message: `The policy cannot run. ${refusal}` };
  const deployed = new Set([...base.deployment, ...(base.predictions.hosted ?? [])].map(({ model }) => model));
  const stranger = deployedModelsOf(policy).find((model) => !deployed.has(model));
  if (stranger !== undefined)
    return { ok: false, message: `${stranger} has no engines in the plan ${base.id.slice(0, 8)}: it has ${[...deployed].join(", ")}.` };
  const of = `those of plan ${base.id.slice(0, 8)}, which`;
  const kept = sameRoutes(base.policy, policy)
    ? isGraceAlone(base.policy, policy)
      ? `The figures are ${of} has other grace: they hold while no later stage is overloaded, and nothing predicts how often one is.`
      : `Latencies are ${of} has another order or place: nothing predicts them under this one. Quality and shares stay as they are.`
    : `Quality, latency and shares are ${of} routes otherwise: nothing predicts this policy.`;
  const note = `${kept} Race it in the Lab before it is put into force.`;
  const { deployment, inputs, solver, apiVersion, kind } = base;
  const predictions = { ...base.predictions, notes: [note, ...told, ...base.predictions.notes] };
  const plan = sealPlan({ apiVersion, kind, deployment, inputs, solver, predictions, policy, metadata: { name } }, new Date());
  return canonicalJson(policy) === canonicalJson(base.policy)
    ? { ok: false, message: "This is the plan's own policy: nothing would change." }
    : { ok: true, plan };
}

/**
 * Whether two policies send every request to the same models, whatever the waiting time, but for what overload does to thresholds: routes
 * that depend on load also depend on the order.
 */
function sameRoutes(one: PolicyDocument, other: PolicyDocument): boolean {
  const routes = ({ order: _, place: __, learnt: ___, ...rest }: PolicyDocument): string => canonicalJson(withoutGrace(rest));
  return (one.kind === "cascade" || one.kind === "fixed") && routes(one) === routes(other);
}

/** Whether two policies differ in nothing but what overload does to their thresholds. */
const isGraceAlone = (one: PolicyDocument, other: PolicyDocument): boolean =>
  canonicalJson(withoutGrace(one)) === canonicalJson(withoutGrace(other));

function withoutGrace<Document extends object>(document: Document): Document {
  const { grace: _, ...rest } = document as Document & { readonly grace?: unknown };
  return rest as Document;
}
