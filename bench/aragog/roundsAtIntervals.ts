import type { CellFigures } from "@/solver/lab/cellFigures";
import type { LabSystem } from "@/solver/lab/labSpec";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Policy } from "@/solver/policies/core/policy";
import { oracleConfigurations } from "@/solver/workflow/configurationOutcomes";
import { directRun } from "./directRun";
import type { SeededRace } from "./seededRace";

/** The same policy, which decides at most once in so many seconds, so that places gather between rounds; at once where all engines stand still. */
export function atIntervals(policy: Policy, seconds: number): Policy {
  let next = Number.NEGATIVE_INFINITY;
  return {
    ...policy,
    decide(view) {
      if (view.nowSeconds < next && view.replicas.some(({ inFlight }) => inFlight > 0)) return [];
      next = view.nowSeconds + seconds;
      return policy.decide(view);
    },
  };
}

/** What a system with an oracle's sets serves at a rate with rounds at intervals: no option of the policy, which holds one whenever a place is free. */
export function withIntervals(
  race: SeededRace,
  { policy, replicas }: LabSystem,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): CellFigures {
  const sets = oracleConfigurations(race.served, new Map(race.spec.mix.map(({ workflow }) => [workflow, race.space])));
  return directRun(race, rate, { policy: atIntervals(buildPolicy(policy), seconds), replicas, configurations: sets });
}
