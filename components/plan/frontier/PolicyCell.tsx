import { ModelMark } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { significantText } from "@/solver/wording/wording";
import { CascadeCell } from "./CascadeCell";
import type { PlottedPolicy } from "./frontierPlans";

/** A policy in a line: a cascade with its thresholds, the models of slack dispatch with its tau, or of cascade routing with its trade-off. */
export function PolicyCell(props: { readonly policy: PlottedPolicy; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  const { policy, identities } = props;
  if (policy.kind === "routing") return <CascadeCell cascade={policy.routing} identities={identities} />;
  return (
    <>
      <span aria-hidden="true" className="text-xs text-ink-2">
        ■
      </span>
      {policy.models.map((model) => {
        const identity = identities.get(model);
        return (
          <span key={model}>
            {identity !== undefined && <ModelMark identity={identity} />}
            <span className="sr-only">{model}</span>
          </span>
        );
      })}
      <span className="text-xs whitespace-nowrap text-ink-3">
        {policy.kind === "slack" ? `τ ${policy.tau}` : `λ ${significantText(policy.pointsPerGpuSecond)}`}
      </span>
    </>
  );
}
