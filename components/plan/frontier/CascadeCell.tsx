import { ModelMark } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { RoutingChoice } from "../address/routingKey";

/** A cascade in a line: its models' marks with the thresholds between them. */
export function CascadeCell(props: { readonly cascade: RoutingChoice; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  const { models, thresholds } = props.cascade;
  return models.map((model, index) => {
    const identity = props.identities.get(model);
    return (
      <span key={model} className="inline-flex items-center gap-1">
        {identity !== undefined && <ModelMark identity={identity} />}
        <span className="sr-only">{model}</span>
        {thresholds[index] !== undefined && <span className="text-xs text-ink-3">&lt;{thresholds[index]}→</span>}
      </span>
    );
  });
}
