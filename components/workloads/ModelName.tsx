import { ModelChip } from "../ui/ModelChip";
import type { ModelIdentity } from "../ui/modelIdentity";

/** A model's chip, or its bare name where it has no identity on this page. */
export function ModelName({ model, identities }: { readonly model: string; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  const identity = identities.get(model);
  return identity === undefined ? model : <ModelChip identity={identity} />;
}
