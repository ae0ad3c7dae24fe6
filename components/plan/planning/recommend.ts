import { choose } from "@/solver/cascade/choose/choose";
import { slackApplies, slackLimit } from "@/solver/cascade/choose/slackChoice";
import type { Candidate, Choice, Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import { chooseDispatch } from "@/solver/dispatch/chooseDispatch";
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
  /** Among the cascades that are asked for, or, where only slack dispatch is, among all. */
  readonly choice: Choice;
  /** The best slack dispatch; null where it is not asked for, not simulated yet, or none meets the objective. */
  readonly dispatch: DispatchPoint | null;
  /** The best of all kinds that are asked for; null where none meets the objective. */
  readonly best: Recommended | null;
  /** The fastest plan of these kinds, and the latency that the slack allows over it; null where no slack applies. */
  readonly slack: { readonly fastest: PlanEstimate; readonly limitSeconds: number } | null;
}

/**
 * Recommends the best policy of the kinds that are asked for, on the objective: exact over everything in the tables, and fast enough for every
 * step of a slider. A slack counts from the fastest plan of all these kinds.
 *
 * @param dispatch null while slack dispatch is not simulated, or where it cannot be.
 * @param tau of slack dispatch; null: the best.
 */
export function recommend(
  tables: { readonly exploration: Exploration; readonly dispatch: DispatchExploration | null },
  { knobs, policy, tau }: { readonly knobs: Knobs; readonly policy: PolicyChoice; readonly tau: number | null },
): Recommendation {
  const { exploration } = tables;
  const dispatch = policy === "any" || policy === "slack" ? tables.dispatch : null;
  const isCascade = policy !== "slack";
  const chooseOn = (asked: Knobs): Choice => (policy === "one-model" ? chooseAlone(exploration, asked) : choose(exploration, asked));
  const choice = chooseOn(knobs);
  const own = dispatch && chooseDispatch(dispatch, knobs, tau);
  const among = (cascades: Choice, point: DispatchPoint | null): Pick<Recommendation, "choice" | "dispatch" | "best"> => ({
    choice: cascades,
    dispatch: point,
    best: betterOf(isCascade ? cascadeOf(exploration, cascades) : null, dispatch && point && slackOf(dispatch, point), knobs),
  });
  if (!slackApplies(knobs)) return { ...among(choice, own?.chosen ?? null), slack: null };
  const quickest = own?.slack?.fastest ?? null;
  const quickestEstimate = dispatch && quickest && estimateOf(dispatch, quickest);
  const cascades = isCascade ? choice.slack : null;
  const fastest = fasterOf(cascades?.fastest ?? null, quickestEstimate);
  if (fastest === null) return { ...among(choice, null), slack: null };
  // As a budget the limit also binds the kind whose own fastest plan is slower.
  const limitSeconds = slackLimit(fastest.latencySeconds, knobs);
  const limited = { ...knobs, latencyBudgetSeconds: limitSeconds };
  const within = fastest === cascades?.fastest || !isCascade ? choice : chooseOn(limited);
  const ownWithin = dispatch === null || fastest === quickestEstimate ? own : chooseDispatch(dispatch, limited, tau);
  return { ...among(within, ownWithin?.chosen ?? null), slack: { fastest, limitSeconds } };
}

/** The figures of slack dispatch in the form of a cascade's. */
export function estimateOf(exploration: DispatchExploration, point: DispatchPoint): PlanEstimate {
  const { gpusTotal, latencySeconds, costUsdPerRequest, quality, qualityLow } = point;
  const gpus = exploration.allocations[point.allocation]?.gpus ?? [];
  return { gpus, gpusTotal, latencySeconds, costUsdPerRequest, quality, qualityLow };
}

function fasterOf(one: PlanEstimate | null, other: PlanEstimate | null): PlanEstimate | null {
  if (one === null || other === null) return one ?? other;
  return other.latencySeconds < one.latencySeconds ? other : one;
}

function cascadeOf(exploration: Exploration, { chosen }: Choice): Recommended | null {
  if (chosen === null) return null;
  return { kind: exploration.routings[chosen.routing]?.stages.length === 1 ? "one-model" : "cascade", estimate: chosen };
}

const slackOf = (exploration: DispatchExploration, point: DispatchPoint): Recommended => ({
  kind: "slack",
  estimate: estimateOf(exploration, point),
  point,
});

function betterOf(one: Recommended | null, other: Recommended | null, knobs: Knobs): Recommended | null {
  if (one === null || other === null) return one ?? other;
  return compareOn(knobs, other.estimate, one.estimate) < 0 ? other : one;
}

/** Below 0 where the first is better on the objective, both meeting floor, budget and slack. */
function compareOn(knobs: Knobs, one: PlanEstimate, other: PlanEstimate): number {
  const promised = ({ quality, qualityLow }: PlanEstimate): number => (knobs.qualityConfidence === null ? quality : qualityLow);
  const cost = one.costUsdPerRequest - other.costUsdPerRequest;
  const latency = one.latencySeconds - other.latencySeconds;
  if (knobs.kind === "cost-under-both") return cost || latency;
  const byQuality = knobs.kind === "quality-under-latency" || (knobs.slack ?? 0) > 0;
  return (byQuality ? promised(other) - promised(one) : latency) || cost;
}

interface Alone {
  readonly exploration: Exploration;
  /** Index in the whole exploration of each routing. */
  readonly positions: readonly number[];
}

const kept = new WeakMap<Exploration, Alone>();

/** The routings of one stage; cached, because an exploration never changes. */
function aloneIn(exploration: Exploration): Alone {
  const known = kept.get(exploration);
  if (known !== undefined) return known;
  const positions = [...exploration.routings.keys()].filter((routing) => exploration.routings[routing]?.stages.length === 1);
  const made = {
    positions,
    exploration: {
      ...exploration,
      routings: positions.flatMap((routing) => exploration.routings[routing] ?? []),
      tableOffset: Int32Array.from(positions, (routing) => exploration.tableOffset[routing] ?? 0),
      endToEndJudgeSeconds: Float32Array.from(positions, (routing) => exploration.endToEndJudgeSeconds[routing] ?? 0),
    },
  };
  kept.set(exploration, made);
  return made;
}

/** `choose` among single models, in the indices of the whole exploration; its candidates are those of the whole. */
function chooseAlone(exploration: Exploration, knobs: Knobs): Choice {
  const alone = aloneIn(exploration);
  const choice = choose(alone.exploration, knobs);
  const whole = <Own extends Candidate | null>(candidate: Own): Own =>
    candidate === null ? candidate : { ...candidate, routing: alone.positions[candidate.routing] ?? 0 };
  return {
    ...choice,
    chosen: whole(choice.chosen),
    slack: choice.slack && { ...choice.slack, fastest: whole(choice.slack.fastest) },
    candidates: choose(exploration, knobs).candidates,
  };
}
