import type { Store } from "@/server/store/store";
import type { GateDocument } from "@/solver/gates/gateDocument";
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

/** How it was found that a model's engines report no log probabilities: by a profile, or by a request when a plan was applied. */
export type SilenceFound = "profile" | "request";

/** Models whose answers a gate of a policy reads log probabilities of, with the gate's kind and its stage, from 0. */
export function logProbabilityGates(
  policy: PolicyDocument,
): readonly { readonly stage: number; readonly model: string; readonly kind: GateDocument["kind"] }[] {
  const models = singleStagesOf(policy);
  return gatesOf(policy).flatMap((document, stage) => {
    const model = models[stage];
    return model === undefined || !createGate(document).needs.includes("log-probabilities") ? [] : [{ stage, model, kind: document.kind }];
  });
}

/** Which gate of a policy reads log probabilities that a model's engines do not report, in one sentence with the remedy; null: none does. */
export function silentGateObstacle(policy: PolicyDocument, silent: ReadonlyMap<string, SilenceFound>): string | null {
  for (const { stage, model, kind } of logProbabilityGates(policy)) {
    const found = silent.get(model);
    if (found === undefined) continue;
    const [how, remedy] =
      found === "profile" ? ["as a profile found", `, or profile ${model} again`] : ["as a request for one token showed", ""];
    return `The ${kind} gate of stage ${stage + 1} reads log probabilities, which the engines of ${model} do not report, ${how}: plan with another gate${remedy}.`;
  }
  return null;
}
