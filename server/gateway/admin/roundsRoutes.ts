import type { GatewayRounds } from "@/server/contracts/gateway/gatewayRounds";
import type { ProgramPath, Round } from "@/solver/policies/core/roundsView";
import { sendJson } from "../http/apiError";
import type { PredictionCounts } from "../prediction/predictionCounts";
import type { Serving } from "../serving/serving";
import type { AdminRoutes } from "./adminRoutes";

interface RoundsRoutesOptions {
  readonly serving: Serving;
  readonly counts: PredictionCounts;
}

/** What the admin port answers about the latest rounds of the policy in force. */
export function roundsRoutes({ serving, counts }: RoundsRoutesOptions): AdminRoutes {
  const shown = (): GatewayRounds => {
    const { cascade } = serving;
    const { rounds = null, programs = [] } = cascade?.driver.policy.rounds?.() ?? {};
    return {
      rounds: rounds?.map(shownRound) ?? null,
      programs: programs.map(shownPath),
      asOfSeconds: (performance.now() / 1000) * (cascade?.timeScale ?? 1),
      predictions: counts.searches,
    };
  };
  return { "GET /rounds": (_, response) => sendJson(response, shown()) };
}

/** Programs as clients name them, and records too. */
const shownProgram = (programKey: string): string => programKey.slice(programKey.indexOf("\n") + 1);

const shownPath = (path: ProgramPath): GatewayRounds["programs"][number] => ({
  ...path,
  programId: shownProgram(path.programId),
  accurate: [...path.accurate],
  left: [...path.left],
});

const shownRound = (round: Round): Round => ({
  ...round,
  candidates: round.candidates.map((candidate) => ({
    ...candidate,
    assignments: candidate.assignments.map((one) => ({ ...one, programId: shownProgram(one.programId) })),
  })),
});
