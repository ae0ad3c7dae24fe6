import { formatScore, formatSeconds, formatUsd } from "@/components/ui/format";
import { type BetterBaseline, type ReplicaRule, replicaRules } from "@/solver/baselines/betterBaseline";
import type { PlanFigures } from "@/solver/cascade/explore/paretoFront";
import { formatRouting, type RoutingChoice } from "../address/routingKey";
import type { NamedBaseline } from "./useBaselines";

/**
 * How a baseline is planned: cascade routing as such, others by their thresholds and, of a trained router, the scores to start at; where those
 * are the plan's own, with its replicas as constraints.
 */
export type PlannedBaseline =
  | { readonly kind: "thresholds"; readonly routing: RoutingChoice }
  | { readonly kind: "replicas"; readonly routing: RoutingChoice; readonly rules: readonly ReplicaRule[] }
  | { readonly kind: "cascade-routing" };

/** A baseline that is better than the recommended plan. */
export interface BetterBanner {
  readonly key: string;
  readonly says: string;
  /** null: it cannot be planned, and `says` has the reason. */
  readonly plannable: PlannedBaseline | null;
}

/**
 * The banner at the recommendation, with the baseline's name and figure.
 *
 * @param planned the recommended plan; its routing is null for slack dispatch.
 */
export function prepareBetter(
  { baseline, axis }: BetterBaseline<NamedBaseline>,
  planned: { readonly routing: RoutingChoice | null; readonly figures: PlanFigures },
): BetterBanner {
  const plannable = plannableOf(baseline, planned.routing);
  const says = `The baseline ${baseline.name} is better than this plan: ${comparison(axis, baseline.figures, planned.figures)}.`;
  return typeof plannable === "string"
    ? { key: baseline.key, says: `${says} ${plannable}`, plannable: null }
    : { key: baseline.key, says: `${says} ${offers[plannable.kind]}`, plannable };
}

const offers: Readonly<Record<PlannedBaseline["kind"], string>> = {
  thresholds: "It is the recommendation: plan it to apply it.",
  "cascade-routing": "It is the recommendation: plan it to apply it.",
  replicas: "It has the thresholds of this plan on other replicas: plan it with these as constraints to apply it.",
};

/** How a baseline is planned, or the sentence why it cannot be. */
function plannableOf({ routing, policy, deployed }: NamedBaseline, planned: RoutingChoice | null): PlannedBaseline | string {
  if (policy === "cascade-routing") return { kind: "cascade-routing" };
  if (routing === null) return "No plan can have it: its modelled router knows which answers are right.";
  if (planned === null || formatRouting(routing) !== formatRouting(planned)) return { kind: "thresholds", routing };
  const rules = replicaRules(deployed);
  return rules === null
    ? "It has the thresholds of this plan, with replicas of several shapes of a model: constraints cannot ask for those."
    : { kind: "replicas", routing, rules };
}

function comparison(axis: BetterBaseline<NamedBaseline>["axis"], own: PlanFigures, planned: PlanFigures): string {
  switch (axis) {
    case "latency":
      return `p95 ${formatSeconds(own.latency)} instead of ${formatSeconds(planned.latency)}`;
    case "quality":
      return `quality ${formatScore(own.quality)} instead of ${formatScore(planned.quality)}`;
    case "cost":
      return `${formatUsd(own.cost)} a request instead of ${formatUsd(planned.cost)}`;
  }
}
