import { choose } from "@/solver/cascade/choose/choose";
import type { Candidate, Choice, Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import { choosePolicy, type PolicyCandidate } from "@/solver/dispatch/choosePolicy";
import type { DispatchExploration, DispatchPoint } from "@/solver/dispatch/dispatchExploration";
import type { ComparedPolicy, PolicyChoice } from "@/solver/plan/planSlack";

/** The figures of a plan by the tables, whatever its policy. */
export type PlanEstimate = Omit<Candidate, "routing">;

/** The recommended policy by the tables. */
export type Recommended =
  | { readonly kind: Exclude<ComparedPolicy["policy"], "slack">; readonly estimate: Candidate }
  | { readonly kind: "slack"; readonly estimate: PlanEstimate; readonly point: DispatchPoint };

/** The tables' answer to one setting of the knobs. */
export interface Recommendation {
  /** Among all cascades, whatever is asked for: every routing, and why none meets the objective. */
  readonly choice: Choice;
  /** The best slack dispatch; null where it is not simulated, or none meets the objective. */
  readonly dispatch: DispatchPoint | null;
  /** The best of all kinds that are asked for; null where none meets the objective. */
  readonly best: Recommended | null;
  /** The fastest plan of these kinds, and the latency that the slack allows over it; null where no slack applies. */
  readonly slack: { readonly fastest: PlanEstimate; readonly limitSeconds: number } | null;
}

/**
 * Recommends the best policy of the kinds that are asked for, on the objective, as the planner does: exact over everything in the tables, and
 * fast enough for every step of a slider.
 *
 * @param dispatch null while slack dispatch is not simulated, or where it cannot be.
 * @param tau of slack dispatch; null: the best.
 */
export function recommend(
  tables: { readonly exploration: Exploration; readonly dispatch: DispatchExploration | null },
  { knobs, policy, tau }: { readonly knobs: Knobs; readonly policy: PolicyChoice; readonly tau: number | null },
): Recommendation {
  const { exploration, dispatch } = tables;
  const choice = choose(exploration, knobs);
  const { chosen, bestOfEach, slack } = choosePolicy(tables, knobs, { asked: policy, tau });
  const own = bestOfEach.find((candidate) => candidate.policy === "slack");
  const estimated = (candidate: PolicyCandidate): PlanEstimate =>
    candidate.policy === "slack" ? estimateOf(dispatch, candidate.point) : candidate.candidate;
  return {
    choice,
    dispatch: own?.policy === "slack" ? own.point : null,
    best: chosen && recommended(chosen),
    slack: slack && { fastest: estimated(slack.fastest), limitSeconds: slack.limitSeconds },
  };

  function recommended(candidate: PolicyCandidate): Recommended {
    if (candidate.policy === "slack") return { kind: "slack", estimate: estimated(candidate), point: candidate.point };
    const stages = exploration.routings[candidate.candidate.routing]?.stages.length;
    return { kind: stages === 1 ? "one-model" : "cascade", estimate: candidate.candidate };
  }
}

/** The figures of slack dispatch in the form of a cascade's. */
export function estimateOf(exploration: DispatchExploration | null, point: DispatchPoint): PlanEstimate {
  const { gpusTotal, latencySeconds, costUsdPerRequest, quality, qualityLow } = point;
  const gpus = exploration?.allocations[point.allocation]?.gpus ?? [];
  return { gpus, gpusTotal, latencySeconds, costUsdPerRequest, quality, qualityLow };
}
