import type { GatewayRounds } from "@/server/contracts/studio";
import { Figure } from "../ui/Figure";
import { Panel } from "../ui/Panel";
import { preparePredictions } from "./prepareRounds";

/** How the gateway found which configurations are accurate, since it started. */
export function PredictionsPanel({ predictions }: { readonly predictions: GatewayRounds["predictions"] }) {
  const { figures, says } = preparePredictions(predictions);
  return (
    <Panel title="Accurate configurations, predicted" aside="since the gateway started">
      <dl className="flex flex-wrap gap-x-8 gap-y-3" data-testid="configuration-predictions">
        {figures.map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
      <p className="mt-3 text-xs text-ink-3">{says}</p>
    </Panel>
  );
}
