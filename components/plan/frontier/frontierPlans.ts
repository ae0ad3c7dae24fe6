import type { FrontierAxes } from "@/components/charts/frontierAxes";
import type { PlottedPlan } from "@/components/charts/prepareFrontier";
import { allocate } from "@/solver/cascade/choose/allocate";
import { candidatesFor } from "@/solver/cascade/choose/choose";
import { costCandidates } from "@/solver/cascade/choose/costCandidates";
import type { Candidate, Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import type { PlanFigures } from "@/solver/cascade/explore/paretoFront";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import { asksFor } from "../address/policyView";
import { formatPin, formatRouting, type PinnedPlan, parsePin, type RoutingChoice } from "../address/routingKey";
import { routingOf } from "../address/routingOf";
import type { PlanEstimate } from "../planning/recommend";

/** The key of cascade routing: the tables have none, so there is at most the exact plan. */
export const GAIN_KEY = "cascade routing";

/** The policy of a plan: a cascade, which may be one model alone, cascade routing, or slack dispatch. */
export type PlottedPolicy =
  | { readonly kind: "cascade-routing"; readonly models: readonly string[]; readonly pointsPerGpuSecond: number }
  | { readonly kind: "routing"; readonly routing: RoutingChoice }
  | { readonly kind: "slack"; readonly models: readonly string[]; readonly tau: number };

/** A policy on some number of GPUs, shared by chart, table and pins. The key of a routing equals its pin's. */
export interface FrontierPlan extends PlottedPlan {
  readonly policy: PlottedPolicy;
  readonly candidate: PlanEstimate;
}

/** A candidate on every axis; its quality is the value that the floor applies to. */
export function figuresOf(candidate: PlanEstimate, { qualityConfidence }: Pick<Knobs, "qualityConfidence">): PlanFigures {
  return {
    quality: qualityConfidence === null ? candidate.quality : candidate.qualityLow,
    latency: candidate.latencySeconds,
    cost: candidate.costUsdPerRequest,
    gpus: candidate.gpusTotal,
  };
}

/** The inputs of plans, except the objective's own candidates: not the floor, so that dragging it recomputes none. */
export type PlanKnobs = Pick<Knobs, "maxGpus" | "latency" | "qualityConfidence">;

/**
 * The plans that a pair of axes distinguishes: every routing on the GPUs that the objective gives it, and where cost or GPUs are an
 * axis also on other numbers of GPUs. Pinned plans are included on every pair.
 */
export function frontierPlans(input: {
  readonly exploration: Exploration;
  /** Every routing as the objective deploys it, index = routing. */
  readonly candidates: readonly Candidate[];
  readonly knobs: PlanKnobs;
  readonly axes: FrontierAxes;
  readonly pins: readonly string[];
  readonly policy: PolicyChoice;
}): readonly FrontierPlan[] {
  const { exploration, candidates, knobs, axes, policy } = input;
  const byCost = [axes.x, axes.y].some((axis) => axis === "cost" || axis === "gpus");
  const others = byCost
    ? [
        ...costCandidates(exploration, knobs),
        ...candidatesFor(exploration, { ...knobs, kind: "latency-under-quality", latencyBudgetSeconds: null }),
      ]
    : [];
  const routings = exploration.routings.map(({ stages }, index) => {
    const routing = routingOf(exploration, index);
    return {
      key: formatPin({ routing, gpus: null }),
      policy: { kind: "routing", routing } as const,
      standAloneModel: stages.length === 1 ? (stages[0] ?? null) : null,
      asked: asksFor(policy, stages.length),
    };
  });
  const plan = (candidate: Candidate, suffix: string): readonly FrontierPlan[] => {
    const routing = routings[candidate.routing];
    if (routing === undefined) return [];
    return [{ ...routing, key: routing.key + suffix, candidate, figures: figuresOf(candidate, knobs) }];
  };
  const plans = [
    ...candidates.flatMap((candidate) => plan(candidate, "")),
    ...others
      .filter(({ routing, gpusTotal }) => gpusTotal !== candidates[routing]?.gpusTotal)
      .flatMap((candidate) => plan(candidate, `*${candidate.gpusTotal}`)),
  ];
  const known = new Set(plans.map(({ key }) => key));
  const pinned = input.pins.flatMap((key) => {
    const pin = known.has(key) ? null : parsePin(key);
    const candidate = pin && pinnedCandidate(pin, input);
    return pin === null || candidate === null ? [] : plan(candidate, `*${pin.gpus}`);
  });
  return [...plans, ...pinned];
}

/** A pinned plan in the current tables; null where its routing is not in them. */
function pinnedCandidate(
  { routing, gpus }: PinnedPlan,
  { exploration, candidates, knobs }: Pick<Parameters<typeof frontierPlans>[0], "exploration" | "candidates" | "knobs">,
): Candidate | null {
  const key = formatRouting(routing);
  const index = exploration.routings.findIndex((_, at) => formatRouting(routingOf(exploration, at)) === key);
  if (index === -1) return null;
  if (gpus === null) return candidates[index] ?? null;
  return allocate(exploration, index, { gpus: Math.min(gpus, exploration.maxGpus), latency: knobs.latency });
}
