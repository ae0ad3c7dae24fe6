import type { ArtefactKind } from "@/server/contracts/gateway/artefacts";
import { otherSpace } from "@/server/contracts/gateway/predictedSpace";
import type { Artefact } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { confidencePredictorOf, modelsOf, type PolicyDocument, singleStagesOf } from "@/solver/plan/policySchema";

/** Why a policy cannot have the trained predictors that it names, in one sentence with the remedy; null if it can, or names none. */
export function predictorRefusal({ artefacts }: Pick<Store, "artefacts">, policy: PolicyDocument): string | null {
  for (const kind of ["lengths", "confidence"] as const) {
    const hash = kind === "confidence" ? confidencePredictorOf(policy) : policy.learnt?.lengths;
    if (hash === undefined) continue;
    const artefact = artefacts.get(hash)?.artefact;
    const refusal = kindRefusal(hash, artefact, kind);
    if (refusal !== null) return refusal;
    // Confidence decides on requests of no declared workflow alone.
    const own = kind === "confidence" ? singleStagesOf(policy) : modelsOf(policy);
    const stranger = own.find((model) => artefact?.training.models.includes(model) === false);
    if (stranger !== undefined)
      return `The policy names ${nameOf(hash)}, which was not trained for ${stranger}: train one for ${own.join(", ")}.`;
  }
  if (policy.kind !== "just-in-time") return null;
  const models = modelsOf(policy);
  for (const { workflow, predictor: hash } of policy.workflows) {
    if (hash === undefined) continue;
    const artefact = artefacts.get(hash)?.artefact;
    const refusal = kindRefusal(hash, artefact, "configurations");
    if (refusal !== null) return refusal;
    const trained = artefact?.training.workflow;
    const other =
      trained === undefined ? null : otherSpace({ workflow: trained, models: artefact?.training.models ?? [] }, { workflow, models });
    if (other !== null)
      return `The policy names ${nameOf(hash)} for ${workflow.name} over ${models.join(", ")}, but ${other}: train one for it, or take it out of the policy.`;
  }
  return null;
}

const nameOf = (hash: string): string => `the predictor ${hash.slice(0, 8)}`;

/** Why there is no predictor of the kind that a policy requires. */
function kindRefusal(hash: string, artefact: Artefact | undefined, kind: ArtefactKind): string | null {
  if (artefact === undefined)
    return `The policy names ${nameOf(hash)} for ${kind}, which is not kept here: train it again in the Lab, or take it out of the policy.`;
  return artefact.kind === kind ? null : `The policy names ${nameOf(hash)} for ${kind}, but it is one of ${artefact.kind}.`;
}
