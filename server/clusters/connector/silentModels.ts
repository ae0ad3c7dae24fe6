import type { Store } from "@/server/store/store";
import { createGate } from "@/solver/gates/gates";
import { gatesOf, type PolicyDocument, singleStagesOf } from "@/solver/plan/policySchema";

/** Models whose engines on a cluster report no log probabilities: by the newest profile that asked them there for any. */
export function silentModels({ profiles }: Pick<Store, "profiles">, clusterId: string): readonly string[] {
  const known = new Map<string, "silent" | "reports">();
  for (const { request, state, withoutLogprobs } of profiles.list()) {
    if (!request.gates.confidence) continue;
    for (const { model, at } of request.models) {
      if (at.kind !== "cluster" || at.clusterId !== clusterId || known.has(model)) continue;
      // A profile that goes on may still find it.
      if (withoutLogprobs?.includes(model)) known.set(model, "silent");
      else if (state === "done") known.set(model, "reports");
    }
  }
  return [...known].flatMap(([model, says]) => (says === "silent" ? [model] : []));
}

/** Which gate of a policy reads log probabilities that a model's engines do not report, in one sentence with the remedy; null: none does. */
export function silentGateObstacle(policy: PolicyDocument, silent: readonly string[]): string | null {
  const models = singleStagesOf(policy);
  for (const [stage, document] of gatesOf(policy).entries()) {
    const model = models[stage];
    if (model === undefined || !silent.includes(model) || !createGate(document).needs.includes("log-probabilities")) continue;
    return `The ${document.kind} gate of stage ${stage + 1} reads log probabilities, which the engines of ${model} do not report, as a profile found: plan with another gate, or profile ${model} again.`;
  }
  return null;
}
