"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { choose } from "@/solver/cascade/choose";
import type { Candidate, Choice, Exploration, Knobs } from "@/solver/cascade/exploration";
import { decodeExploration } from "@/solver/cascade/explorationWire";
import type { Plan } from "@/solver/plan/plan";
import { type Inputs, useTRPC, useTRPCClient } from "../api/trpc";
import type { PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useDebounced } from "../ui/useDebounced";
import { formatRouting, type RoutingChoice } from "./routingKey";
import { routingOf } from "./routingOf";

/** Stillness before the exact plan is asked for. Shorter asks for plans nobody reads while a knob turns. */
const SETTLE_MS = 300;
/** Percentile of every latency promised and shown. */
const PERCENTILE = 95;

export interface Situation {
  readonly workloadId: string;
  readonly clusterId: string;
  readonly requestsPerSecond: number;
}

export interface Planning {
  readonly status: PanelStatus;
  readonly exploration: Exploration | null;
  /** Knobs that `choice` answers: those at hand, or, while a knob turns fast, those of a moment ago. */
  readonly knobs: Knobs;
  /** The tables' answer to the knobs, computed here in the browser. */
  readonly choice: Choice | null;
  /** What the tables say of the plan asked for; with fixed thresholds, of those. */
  readonly estimate: Candidate | null;
  readonly exact: ExactPlan;
}

/** The worker's answer. `plan` is the last exact plan; `current` tells whether it answers the knobs as they stand. */
export interface ExactPlan {
  readonly plan: Plan | null;
  readonly current: boolean;
  readonly infeasible: string | null;
  readonly status: PanelStatus;
}

function useExploration(situation: Situation) {
  const trpc = useTRPC();
  const query = useQuery(
    trpc.plans.explore.queryOptions(situation, {
      staleTime: Number.POSITIVE_INFINITY,
      placeholderData: keepPreviousData,
      trpc: { abortOnUnmount: true },
    }),
  );
  const { data, error, refetch } = query;
  const exploration = useMemo(() => (data?.ok ? decodeExploration(data.exploration) : null), [data]);
  const status = useMemo(() => {
    // A refusal is an answer, but one without anything to draw: it takes the error's place.
    const state = data?.ok === false ? { data: undefined, error: { message: data.message }, refetch } : { data, error, refetch };
    return queryStatus(state, { what: "Evaluating cascades on this workload" });
  }, [data, error, refetch]);
  return { exploration, status, fresh: !query.isPlaceholderData };
}

function useExactPlan(request: Inputs["plans"]["solve"], enabled: boolean): ExactPlan {
  const client = useTRPCClient();
  const asked = useDebounced(request, SETTLE_MS);
  const query = useQuery({
    queryKey: ["exact-plan", asked],
    // The signal ends the worker's job as soon as the knobs move on: the last request wins.
    queryFn: ({ signal }) => client.plans.solve.mutate(asked, { signal }),
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const { data, error, refetch } = query;
  const current = enabled && asked === request && !query.isPlaceholderData && data !== undefined && error === null;
  return useMemo(
    () => ({
      plan: data?.outcome === "plan" ? data.plan : null,
      current,
      infeasible: data?.outcome === "infeasible" ? data.reason : null,
      status: queryStatus({ data, error, refetch }, { what: "Solving the exact plan" }),
    }),
    [data, error, refetch, current],
  );
}

/**
 * Two tiers: `choose` answers every step of a slider from the tables within a frame, and once the knobs rest a worker
 * solves, places and simulates the plan whole. Until that arrives everything shown is called an estimate. The result keeps
 * its identity while nothing in it changes, so that panels are not drawn anew on every step of a thumb.
 */
export function usePlanning(situation: Situation, knobs: Knobs, fixed: RoutingChoice | null): Planning {
  const { exploration, status, fresh } = useExploration(situation);
  const settled = useDeferredValue(knobs);
  const choice = useMemo(() => (exploration === null ? null : choose(exploration, settled)), [exploration, settled]);
  const request = useMemo(
    () => ({
      ...situation,
      objective: { ...knobs, percentile: PERCENTILE },
      fixed: fixed === null ? null : { models: [...fixed.models], thresholds: [...fixed.thresholds] },
    }),
    [situation, knobs, fixed],
  );
  const exact = useExactPlan(request, exploration !== null && fresh);
  const estimate = useMemo(() => {
    if (exploration === null || choice === null) return null;
    if (fixed === null) return choice.chosen;
    const key = formatRouting(fixed);
    return choice.candidates.find((candidate) => formatRouting(routingOf(exploration, candidate.routing)) === key) ?? null;
  }, [exploration, choice, fixed]);
  return useMemo(
    () => ({ status, exploration, knobs: settled, choice, estimate, exact }),
    [status, exploration, settled, choice, estimate, exact],
  );
}
