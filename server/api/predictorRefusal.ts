import { artefactKinds } from "@/server/contracts/artefacts";
import type { Store } from "@/server/store/store";
import { modelsOf, type PolicyDocument } from "@/solver/plan/policySchema";

/** Why a policy cannot have the trained predictors that it names, in one sentence with the way out; null where it can, or names none. */
export function predictorRefusal({ artefacts }: Pick<Store, "artefacts">, policy: PolicyDocument): string | null {
  for (const kind of artefactKinds) {
    const hash = policy.learnt?.[kind];
    if (hash === undefined) continue;
    const name = `the predictor ${hash.slice(0, 8)}`;
    const artefact = artefacts.get(hash)?.artefact;
    if (artefact === undefined)
      return `The policy names ${name} for ${kind}, which is not kept here: train it again in the Lab, or take it out of the policy.`;
    if (artefact.kind !== kind) return `The policy names ${name} for ${kind}, but it is one of ${artefact.kind}.`;
    const stranger = modelsOf(policy).find((model) => !artefact.training.models.includes(model));
    if (stranger !== undefined)
      return `The policy names ${name}, which was not trained for ${stranger}: train one for ${modelsOf(policy).join(", ")}.`;
  }
  return null;
}
