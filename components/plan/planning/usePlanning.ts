"use client";

import { useDeferredValue, useMemo } from "react";
import { type Inputs, useTRPCClient } from "@/components/api/trpc";
import { useJob } from "@/components/api/useJob";
import type { PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useDebounced } from "@/components/ui/useDebounced";
import type { ExploreEvent, SolveAnswer, SolveEvent } from "@/server/contracts/studio";
import { candidatesFor } from "@/solver/cascade/choose/choose";
import type { Candidate, Choice, Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { Plan } from "@/solver/plan/plan";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import { isByThresholds } from "@/solver/plan/policySchema";
import type { RoutingChoice } from "../address/routingKey";
import { routingOf, routingOfPlan } from "../address/routingOf";
import { useStableValue } from "../address/useStableValue";
import { narrowing } from "../constraints/prepareConstraints";
import { type FoundRouting, findRouting } from "./findRouting";
import type { Doing } from "./JobProgress";
import { type PlanEstimate, type Recommendation, recommend } from "./recommend";
import { type DispatchTables, useDispatch } from "./useDispatch";
import { useLines } from "./useLines";

/** Delay after the last change before the exact plan is requested. A shorter one requests plans that are not read while a knob moves. */
const SETTLE_MS = 300;
/** Percentile of every latency promised and shown. */
const PERCENTILE = 95;

const noNotes: readonly string[] = [];

export interface Planning {
  readonly status: PanelStatus;
  readonly exploration: Exploration | null;
  readonly exploring: Doing;
  /** Knobs that `choice` answers: the current ones, or, while a knob moves fast, slightly older ones. */
  readonly knobs: Knobs;
  /** The tables' answer to the knobs, computed here in the browser. */
  readonly choice: Choice | null;
  /** Every cascade as the objective deploys it, index = routing; the same list while only floor and slack change. */
  readonly candidates: readonly Candidate[] | null;
  readonly dispatch: DispatchTables;
  /** The best policy of the kinds that are asked for, by the tables. */
  readonly recommendation: Recommendation | null;
  /** The cascade that the tables recommend, whatever is chosen by hand; null where they recommend slack dispatch. */
  readonly recommended: RoutingChoice | null;
  /**
   * The cascade that a change starts from: chosen by hand, else that of the exact plan, which may differ from the tables' recommendation,
   * else the recommended one. null for slack dispatch.
   */
  readonly atHand: RoutingChoice | null;
  /** The tables' figures for the requested cascade; null for slack dispatch. */
  readonly found: FoundRouting | null;
  /** The same for the requested plan, whatever its policy. */
  readonly estimate: PlanEstimate | null;
  readonly exact: ExactPlan;
  /** The rate of the tables, and of all figures from them: the given one, or the last highest rate that was found. */
  readonly requestsPerSecond: number;
  /** Whether the highest rate is searched for. */
  readonly searchesRate: boolean;
  /** Models and GPUs that could not be used, in sentences. */
  readonly notes: readonly string[];
}

/**
 * The worker's answer: a plan at the given rate, or at the highest one. `plan` is the last exact plan; `current`: whether it answers the
 * current knobs.
 */
export interface ExactPlan extends Doing {
  readonly plan: Plan | null;
  readonly current: boolean;
  readonly infeasible: Extract<SolveAnswer, { outcome: "infeasible" }> | null;
  readonly status: PanelStatus;
  /** The request once the knobs rest, at the plan's own rate: the subject of examinations. */
  readonly question: Question;
  /** Whether the request belongs to the current knobs. */
  readonly rests: boolean;
}

type Question = Omit<Inputs["plans"]["solve"], "rateChoice">;

/** The inputs of planning: constraints that do not affect the tables are not part of the request, so that the tables stay. */
function useExploration({ constraints, ...situation }: Inputs["plans"]["explore"]) {
  const client = useTRPCClient();
  const question: Inputs["plans"]["explore"] = useStableValue({ ...situation, constraints: constraints && narrowing(constraints) });
  const job = useJob<Inputs["plans"]["explore"], Extract<ExploreEvent, { kind: "answer" }>>({
    name: "exploration",
    question,
    enabled: true,
    subscribe: (asked, listener) => client.plans.explore.subscribe(asked, listener),
  });
  const { answer: data, error, ask } = job;
  const answer = data?.answer;
  const exploration = useMemo(() => (answer?.ok ? decodeExploration(answer.exploration) : null), [answer]);
  const { cancelled } = job;
  const status = useMemo((): PanelStatus => {
    if (cancelled && exploration !== null) return { kind: "stale", note: "these cascades are for earlier settings." };
    if (cancelled) return { kind: "empty", title: "Cancelled", text: "Evaluate cascades to see this cluster's options." };
    // A refusal is an answer without anything to draw: it is shown as an error. A retry would give the same.
    if (answer?.ok === false && error === null) return { kind: "error", message: answer.message, retry: null };
    return queryStatus({ data: answer, error, refetch: ask }, { what: "Evaluating cascades on this workload" });
  }, [answer, error, ask, cancelled, exploration]);
  return { exploration, status, job, question, notes: answer?.ok ? (answer.notes ?? noNotes) : noNotes };
}

function useExactPlan(name: "exact-plan" | "highest-rate", request: Inputs["plans"]["solve"], enabled: boolean): ExactPlan {
  const client = useTRPCClient();
  const question = useDebounced(request, SETTLE_MS);
  const job = useJob<Inputs["plans"]["solve"], Extract<SolveEvent, { kind: "answer" }>>({
    name,
    question,
    enabled,
    subscribe: (asked, listener) => client.plans.solve.subscribe(asked, listener),
  });
  const { answer: data, error, working, progress, cancelled, cancel, ask } = job;
  const answer = data?.answer;
  const rests = JSON.stringify(question) === JSON.stringify(request);
  const current = job.current && rests;
  return useMemo(
    () => ({
      plan: answer?.outcome === "plan" ? answer.plan : null,
      current,
      infeasible: answer?.outcome === "infeasible" ? answer : null,
      status: queryStatus({ data: answer, error, refetch: ask }, { what: solving[name] }),
      question,
      rests,
      working,
      progress,
      cancelled,
      cancel,
      ask,
    }),
    [name, answer, error, current, question, rests, working, progress, cancelled, cancel, ask],
  );
}

const solving = { "exact-plan": "Solving the exact plan", "highest-rate": "Searching for the highest rate" } as const;

/**
 * The plan at the highest rate: several solves by the planner, which starts with the request's rate. Its examinations are of the plan at the
 * rate that was found.
 */
function useHighestRate(request: Question, enabled: boolean): ExactPlan {
  const searched = useMemo(() => ({ ...request, rateChoice: "highest" as const }), [request]);
  const exact = useExactPlan("highest-rate", searched, enabled);
  const at = exact.current ? exact.plan?.inputs.workload.requestsPerSecond : undefined;
  const question = useMemo(() => ({ ...request, requestsPerSecond: at ?? request.requestsPerSecond }), [request, at]);
  // The rate of an examination is known once the search has ended.
  return useMemo(() => ({ ...exact, question, rests: exact.current }), [exact, question]);
}

/**
 * Two tiers: `choose` answers every step of a slider from the tables within a frame, and once the knobs rest a worker
 * solves, places and simulates the whole plan. Until that arrives everything shown is called an estimate. The result keeps
 * its identity while nothing in it changes, so that panels are not redrawn on every step of a thumb.
 *
 * A chosen cascade is answered the same way: from the exploration, or from the lines around it, which are requested from the planner once
 * the cascade is chosen or about to be changed.
 *
 * @param estimated the knobs that the tables can answer: caps in the constraints are converted to a limit on GPUs.
 * Slack dispatch is simulated by the planner too, after the cascades, and takes part in the recommendation once it is there.
 *
 * For the highest rate the plan is searched for on its own, and the tables are those of the rate that was found last: so they answer every
 * step of a slider at that rate, until the next search has ended. Before the first answer they are at the rate that is tried first.
 *
 * @param policy the kinds of policies that are planned, and the tau of slack dispatch; null: the planner chooses it. `searchesRate`: whether
 * the highest rate is searched for.
 * @param chosen `fixed`: the cascade chosen by hand, including a held thumb; `settled`: the same at the last release; `turning`: whether
 * the recommended one is about to be changed.
 */
export function usePlanning(
  given: Inputs["plans"]["explore"],
  knobs: { readonly asked: Knobs; readonly estimated: Knobs },
  { policy, tau, searchesRate }: { readonly policy: PolicyChoice; readonly tau: number | null; readonly searchesRate: boolean },
  {
    fixed,
    settled: around,
    turning,
  }: { readonly fixed: RoutingChoice | null; readonly settled: RoutingChoice | null; readonly turning: boolean },
): Planning {
  const { asked, estimated } = knobs;
  const request = useMemo(
    () => ({
      ...given,
      objective: { ...asked, percentile: PERCENTILE },
      ...(fixed === null
        ? { fixed: null, policy, ...(tau !== null && (policy === "slack" || policy === "any") && { tau }) }
        : { fixed: { ...fixed, models: [...fixed.models], thresholds: [...fixed.thresholds] }, policy: "cascade" as const }),
    }),
    [given, asked, fixed, policy, tau],
  );
  const highest = useHighestRate(request, searchesRate && asked.latencyBudgetSeconds !== null);
  const requestsPerSecond = (searchesRate ? rateFound(highest.plan, given) : null) ?? given.requestsPerSecond;
  const situation = useMemo(() => ({ ...given, requestsPerSecond }), [given, requestsPerSecond]);
  const { exploration, status, job, question, notes } = useExploration(situation);
  const settled = useDeferredValue(estimated);
  const { kind, latency, latencyBudgetSeconds, maxGpus } = settled;
  const candidates = useMemo(
    () => (exploration === null ? null : candidatesFor(exploration, { kind, latency, latencyBudgetSeconds, maxGpus })),
    [exploration, kind, latency, latencyBudgetSeconds, maxGpus],
  );
  const dispatch = useDispatch(situation, job.current && (policy === "any" || policy === "slack"));
  const settledTau = useDeferredValue(tau);
  const recommendation = useMemo(
    () =>
      exploration === null ? null : recommend({ exploration, dispatch: dispatch.exploration }, { knobs: settled, policy, tau: settledTau }),
    [exploration, dispatch.exploration, settled, policy, settledTau],
  );
  const choice = recommendation?.choice ?? null;
  const solved = useExactPlan("exact-plan", request, !searchesRate && exploration !== null && job.current);
  const exact = searchesRate ? highest : solved;
  const best = recommendation?.best ?? null;
  const recommended = useMemo(
    () => (exploration === null || best === null || best.kind === "slack" ? null : routingOf(exploration, best.estimate.routing)),
    [exploration, best],
  );
  const unchosen = useMemo(() => {
    if (!exact.current || exact.plan === null) return recommended;
    return isByThresholds(exact.plan.policy) ? routingOfPlan(exact.plan) : null;
  }, [exact, recommended]);
  const atHand = fixed ?? unchosen;
  const lines = useLines(question, around ?? (turning ? unchosen : null), job.current);
  const wanted = useDeferredValue(fixed) ?? recommended;
  const found = useMemo(() => {
    if (exploration === null || choice === null || wanted === null) return null;
    return findRouting(wanted, { exploration, candidates: choice.candidates, lines }, settled);
  }, [exploration, choice, lines, settled, wanted]);
  // A recommended cascade may be on fewer GPUs than the tables' list has it.
  const estimate = fixed === null ? (best?.estimate ?? null) : (found?.candidate ?? null);
  return useMemo(
    () => ({
      status,
      exploration,
      exploring: job,
      knobs: settled,
      choice,
      candidates,
      dispatch,
      recommendation,
      recommended,
      atHand,
      found,
      estimate,
      exact,
      requestsPerSecond,
      searchesRate,
      notes,
    }),
    [
      status,
      exploration,
      job,
      settled,
      choice,
      candidates,
      dispatch,
      recommendation,
      recommended,
      atHand,
      found,
      estimate,
      exact,
      requestsPerSecond,
      searchesRate,
      notes,
    ],
  );
}

/** The highest rate that was found for this workload on this cluster, whatever the knobs were; null: none. */
function rateFound(plan: Plan | null, { workloadId, clusterId }: Inputs["plans"]["explore"]): number | null {
  const isOfThese = plan?.inputs.workload.id === workloadId && plan.inputs.cluster.id === clusterId;
  return isOfThese ? plan.inputs.workload.requestsPerSecond : null;
}
