"use client";

import { useMemo } from "react";
import type { FrontierAxes } from "@/components/charts/frontierAxes";
import { prepareFrontier } from "@/components/charts/prepareFrontier";
import { betterBaseline } from "@/solver/baselines/betterBaseline";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import type { FrontierView } from "../address/frontierCodec";
import { formatRouting, parsePin, type RoutingChoice } from "../address/routingKey";
import type { Planning } from "../planning/usePlanning";
import { dispatchKey, dispatchPlans } from "./dispatchPlans";
import { type FrontierPlan, figuresOf, frontierPlans } from "./frontierPlans";
import { prepareBetter } from "./prepareBetter";
import { type Pin, prepareCompare, type RunningPlan } from "./prepareCompare";
import { prepareFrontierTable } from "./prepareFrontierTable";
import { estimatedPlan, exactFrontierPlan, withPlan } from "./recommendedPlan";
import type { Baselines } from "./useBaselines";

interface Shown {
  readonly planning: Planning;
  readonly policy: PolicyChoice;
  readonly view: FrontierView;
  /** The cascade chosen by hand; null: none. */
  readonly fixed: RoutingChoice | null;
  readonly running: RunningPlan | null;
  readonly baselines: Baselines;
}

/** The plans of every kind of policy, the recommended one with its own figures: the exact plan's once that answers the knobs. */
function usePlans({ planning, policy, view, fixed }: Shown, axes: FrontierAxes) {
  const { exploration, candidates, recommendation, exact, knobs } = planning;
  const { maxGpus, latency, qualityConfidence } = knobs;
  const { pins } = view;
  const cascades = useMemo(() => {
    if (exploration === null || candidates === null) return null;
    return frontierPlans({ exploration, candidates, knobs: { maxGpus, latency, qualityConfidence }, axes, pins, policy });
  }, [exploration, candidates, maxGpus, latency, qualityConfidence, axes, pins, policy]);
  const dispatch = planning.dispatch.exploration;
  const point = recommendation?.dispatch ?? null;
  const all = useMemo(() => {
    if (cascades === null || dispatch === null) return cascades;
    return [
      ...cascades,
      ...dispatchPlans({ exploration: dispatch, chosen: point, knobs: { maxGpus, latency, qualityConfidence }, policy }),
    ];
  }, [cascades, dispatch, point, maxGpus, latency, qualityConfidence, policy]);
  const best = recommendation?.best ?? null;
  const plan = exact.current && fixed === null ? exact.plan : null;
  const models = exploration?.models ?? null;
  const solved = useMemo(
    () => (plan === null || models === null ? null : exactFrontierPlan(plan, { models, dispatch, knobs: { latency, qualityConfidence } })),
    [plan, models, dispatch, latency, qualityConfidence],
  );
  const estimated = useMemo(
    () => (exploration === null || best === null ? null : estimatedPlan(best, exploration, { latency, qualityConfidence })),
    [exploration, best, latency, qualityConfidence],
  );
  const chosen = solved ?? estimated;
  const plans = useMemo(() => (all === null || chosen === null ? all : withPlan(all, chosen)), [all, chosen]);
  return { plans, chosen, solved };
}

/** Everything that chart, table and tray draw, from the tables; null until they are available. */
export function usePreparedFrontier(shown: Shown) {
  const { planning, view, fixed, running } = shown;
  const { knobs, estimate, exact, recommendation } = planning;
  const { xAxis, yAxis, brush, pins } = view;
  const axes = useMemo((): FrontierAxes => ({ x: xAxis, y: yAxis }), [xAxis, yAxis]);
  const { plans, chosen, solved } = usePlans(shown, axes);
  const { qualityConfidence } = knobs;
  const { systems, current } = shown.baselines;
  const own = useMemo(
    () =>
      fixed === null || estimate === null || !Number.isFinite(estimate.latencySeconds) ? null : figuresOf(estimate, { qualityConfidence }),
    [fixed, estimate, qualityConfidence],
  );
  // Compared once both are for the current knobs: an estimate differs from a simulation by its own error.
  const limitSeconds = exact.plan?.solver.slack?.limitSeconds ?? recommendation?.slack?.limitSeconds ?? null;
  const better = useMemo(() => {
    if (solved === null || !current) return null;
    const attainable = systems.filter((each) => each.attainable);
    const found = betterBaseline({ ...knobs, limitSeconds: knobs.slack === undefined ? null : limitSeconds }, solved.figures, attainable);
    const routing = solved.policy.kind === "routing" ? solved.policy.routing : null;
    return found && prepareBetter(found, { routing, figures: solved.figures });
  }, [solved, current, systems, knobs, limitSeconds]);
  const betterKey = better?.key ?? null;
  const chosenKey = chosen?.key ?? null;
  const picture = useMemo(() => {
    if (plans === null) return null;
    return prepareFrontier({
      plans,
      axes,
      limits: knobs,
      chosen: chosenKey,
      own,
      running: running?.figures ?? null,
      baselines: systems,
      better: betterKey,
    });
  }, [plans, axes, knobs, chosenKey, own, running, systems, betterKey]);
  const dispatch = recommendation?.dispatch ?? null;
  const bestDispatch = dispatch === null ? null : dispatchKey(dispatch);
  const table = useMemo(() => {
    if (plans === null || picture === null) return null;
    const promised = running && {
      key: formatRouting(running.routing),
      figures: running.otherTraffic === null ? { quality: running.quality, p95Seconds: running.figures.latency } : null,
    };
    return prepareFrontierTable({
      plans,
      picture,
      brush,
      pins,
      own: fixed === null ? null : formatRouting(fixed),
      dispatch: bestDispatch,
      running: promised,
      baselines: systems,
    });
  }, [plans, picture, brush, pins, fixed, bestDispatch, running, systems]);
  const pinned = useMemo(() => (plans === null ? [] : pins.flatMap((key) => pinOf(key, plans))), [pins, plans]);
  const comparison = useMemo(() => prepareCompare(pinned, running), [pinned, running]);
  if (plans === null || picture === null || table === null) return null;
  const word =
    better !== null ? ("planned below" as const) : solved !== null ? ("recommended" as const) : ("recommended, estimate" as const);
  return { axes, plans, picture, table, pinned, comparison, better, word, solvedKey: solved?.key ?? null };
}

function pinOf(key: string, plans: readonly FrontierPlan[]): readonly Pin[] {
  const pinned = parsePin(key);
  if (pinned === null) return [];
  const found = plans.find((plan) => plan.key === key);
  const plan = found && {
    routing: pinned.routing,
    gpus: found.candidate.gpus,
    quality: found.candidate.quality,
    figures: found.figures,
  };
  return [{ key, pinned, plan: plan ?? null }];
}
