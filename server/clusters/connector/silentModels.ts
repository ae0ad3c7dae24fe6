import type { Store } from "@/server/store/store";
import { logProbabilityGates } from "@/solver/plan/planGates";
import type { PolicyDocument } from "@/solver/plan/policySchema";

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

/** How it was found that a model's engines report no log probabilities: by a profile, or by a request when a plan was applied. */
export type SilenceFound = "profile" | "request";

/** Which gate of a policy reads log probabilities that a model's engines do not report, in one sentence with the remedy; null: none does. */
export function silentGateObstacle(policy: PolicyDocument, silent: ReadonlyMap<string, SilenceFound>): string | null {
  for (const { stage, model, kind } of logProbabilityGates(policy)) {
    const found = silent.get(model);
    if (found === undefined) continue;
    const [how, remedy] =
      found === "profile" ? ["as a profile found", `, or profile ${model} again`] : ["as a request for one token showed", ""];
    const of = stage === null ? `agents' answers by ${model}` : `stage ${stage + 1}`;
    return `The ${kind} gate of ${of} reads log probabilities, which the engines of ${model} do not report, ${how}: plan with another gate${remedy}.`;
  }
  return null;
}
