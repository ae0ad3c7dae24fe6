import { formatScore, formatSeconds, formatUsd } from "@/components/ui/format";
import type { BetterBaseline } from "@/solver/baselines/betterBaseline";
import type { PlanFigures } from "@/solver/cascade/explore/paretoFront";
import { formatRouting, type RoutingChoice } from "../address/routingKey";
import type { NamedBaseline } from "./useBaselines";

/**
 * Whether a baseline can be planned: cascade routing as such, others by their thresholds and, of a trained router, the scores to start at,
 * unless those are the plan's own, on other replicas; a modelled router cannot.
 */
type Plannable =
  | { readonly kind: "thresholds"; readonly routing: RoutingChoice }
  | { readonly kind: "cascade-routing" }
  | { readonly kind: "replicas" }
  | { readonly kind: "modelled-router" };

/** A baseline that is better than the recommended plan. */
export interface BetterBanner {
  readonly key: string;
  readonly says: string;
  readonly plannable: Plannable;
  /** Why it cannot be planned; null where it can. */
  readonly reason: string | null;
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
  const recommends =
    plannable.kind === "thresholds" || plannable.kind === "cascade-routing" ? " It is the recommendation: plan it to apply it." : "";
  return {
    key: baseline.key,
    says: `The baseline ${baseline.name} is better than this plan: ${comparison(axis, baseline.figures, planned.figures)}.${recommends}`,
    plannable,
    reason: reasonOf(plannable),
  };
}

function plannableOf({ routing, policy }: NamedBaseline, planned: RoutingChoice | null): Plannable {
  if (policy === "cascade-routing") return { kind: "cascade-routing" };
  if (routing === null) return { kind: "modelled-router" };
  return planned !== null && formatRouting(routing) === formatRouting(planned) ? { kind: "replicas" } : { kind: "thresholds", routing };
}

function reasonOf({ kind }: Plannable): string | null {
  switch (kind) {
    case "thresholds":
    case "cascade-routing":
      return null;
    case "replicas":
      return "It has the thresholds of this plan on other replicas: ask for their shapes under Constraints.";
    case "modelled-router":
      return "No plan can have it: its modelled router knows which answers are right.";
  }
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
