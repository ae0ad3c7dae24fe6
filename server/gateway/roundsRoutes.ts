import type { GatewayRounds } from "@/server/contracts/gatewayRounds";
import type { ProgramPath } from "@/solver/policies/roundsView";
import type { AdminRoutes } from "./adminRoutes";
import { sendJson } from "./apiError";
import type { PredictionCounts } from "./predictionCounts";
import type { Serving } from "./serving";

interface RoundsRoutesOptions {
  readonly serving: Serving;
  readonly counts: PredictionCounts;
}

/** What the admin port answers about the latest rounds of the policy in force. */
export function roundsRoutes({ serving, counts }: RoundsRoutesOptions): AdminRoutes {
  const shown = (): GatewayRounds => {
    const { cascade } = serving;
    const { rounds = null, programs = [] } = cascade?.driver.policy.rounds?.() ?? {};
    const asOfSeconds = (performance.now() / 1000) * (cascade?.timeScale ?? 1);
    return { rounds, programs: programs.map(shownPath), asOfSeconds, predictions: counts.searches };
  };
  return { "GET /rounds": (_, response) => sendJson(response, shown()) };
}

const shownPath = (path: ProgramPath): GatewayRounds["programs"][number] => ({
  ...path,
  accurate: [...path.accurate],
  left: [...path.left],
});
