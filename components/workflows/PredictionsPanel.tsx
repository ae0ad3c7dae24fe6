import type { GatewayRounds } from "@/server/contracts/studio";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { Figure } from "../ui/Figure";
import { Panel } from "../ui/Panel";
import { preparePredictions } from "./preparePredictions";

/** How the gateway found which configurations are accurate, since it started. */
export function PredictionsPanel(props: { readonly predictions: GatewayRounds["predictions"]; readonly policy: PolicyDocument | null }) {
  const { figures, says } = preparePredictions(props.predictions, props.policy);
  return (
    <Panel title="Accurate configurations, predicted from executed or modelled outcomes" aside="since the gateway started, over all plans">
      <dl className="flex flex-wrap gap-x-8 gap-y-3" data-testid="configuration-predictions">
        {figures.map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
      {says !== "" && <p className="mt-3 text-xs text-ink-3">{says}</p>}
    </Panel>
  );
}
