"use client";

import { useDeferredValue, useMemo } from "react";
import { type Inputs, useTRPCClient } from "@/components/api/trpc";
import { type Job, useJob } from "@/components/api/useJob";
import type { PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useDebounced } from "@/components/ui/useDebounced";
import type { ExploreEvent, SolveAnswer, SolveEvent } from "@/server/contracts/studio";
import { choose } from "@/solver/cascade/choose/choose";
import type { Candidate, Choice, Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { Plan } from "@/solver/plan/plan";
import type { RoutingChoice } from "../address/routingKey";
import { routingOf, routingOfPlan } from "../address/routingOf";
import { useStableValue } from "../address/useStableValue";
import { narrowing } from "../constraints/prepareConstraints";
import { type FoundRouting, findRouting } from "./findRouting";
import { useLines } from "./useLines";

/** Stillness before the exact plan is asked for. Shorter asks for plans nobody reads while a knob turns. */
const SETTLE_MS = 300;
/** Percentile of every latency promised and shown. */
const PERCENTILE = 95;

const noNotes: readonly string[] = [];

export interface Planning {
  readonly status: PanelStatus;
  readonly exploration: Exploration | null;
  readonly exploring: Doing;
  /** Knobs that `choice` answers: those at hand, or, while a knob turns fast, those of a moment ago. */
  readonly knobs: Knobs;
  /** The tables' answer to the knobs, computed here in the browser. */
  readonly choice: Choice | null;
  /** The cascade that the tables recommend, whatever is chosen by hand. */
  readonly recommended: RoutingChoice | null;
  /** The cascade that a turn starts from: chosen by hand, else of the exact plan, which may differ from what the tables recommend, else recommended. */
  readonly atHand: RoutingChoice | null;
  /** What the tables say of the plan asked for; of a chosen cascade, of that. */
  readonly found: FoundRouting | null;
  readonly estimate: Candidate | null;
  readonly exact: ExactPlan;
  /** What could not be planned with, in sentences. */
  readonly notes: readonly string[];
}

/** What is being done about an answer, and the way out. */
export type Doing = Pick<Job<unknown>, "working" | "progress" | "cancelled" | "cancel" | "ask">;

/** The worker's answer. `plan` is the last exact plan; `current` tells whether it answers the knobs as they stand. */
export interface ExactPlan extends Doing {
  readonly plan: Plan | null;
  readonly current: boolean;
  readonly infeasible: Extract<SolveAnswer, { outcome: "infeasible" }> | null;
  readonly status: PanelStatus;
  /** What it was asked with, once the knobs rest: what examinations are about. */
  readonly question: Inputs["plans"]["solve"];
  /** Whether the question is of the knobs as they stand. */
  readonly rests: boolean;
}

/** What there is to plan with: constraints that its tables do not depend on are no part of the question, so that they stay. */
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
    // A refusal is an answer, but one without anything to draw: it takes the error's place. Asked again it would be the same.
    if (answer?.ok === false && error === null) return { kind: "error", message: answer.message, retry: null };
    return queryStatus({ data: answer, error, refetch: ask }, { what: "Evaluating cascades on this workload" });
  }, [answer, error, ask, cancelled, exploration]);
  return { exploration, status, job, question, notes: answer?.ok ? (answer.notes ?? noNotes) : noNotes };
}

function useExactPlan(request: Inputs["plans"]["solve"], enabled: boolean): ExactPlan {
  const client = useTRPCClient();
  const question = useDebounced(request, SETTLE_MS);
  const job = useJob<Inputs["plans"]["solve"], Extract<SolveEvent, { kind: "answer" }>>({
    name: "exact-plan",
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
      status: queryStatus({ data: answer, error, refetch: ask }, { what: "Solving the exact plan" }),
      question,
      rests,
      working,
      progress,
      cancelled,
      cancel,
      ask,
    }),
    [answer, error, current, question, rests, working, progress, cancelled, cancel, ask],
  );
}

/**
 * Two tiers: `choose` answers every step of a slider from the tables within a frame, and once the knobs rest a worker
 * solves, places and simulates the plan whole. Until that arrives everything shown is called an estimate. The result keeps
 * its identity while nothing in it changes, so that panels are not drawn anew on every step of a thumb.
 *
 * A chosen cascade is answered the same way: from the exploration, or from the lines around it, which the planner is asked for once
 * the cascade is chosen or about to be turned.
 *
 * @param estimated the knobs as far as the tables can answer them: with caps of the constraints made a limit on GPUs.
 * @param chosen `fixed`: the cascade chosen by hand, as a held thumb has it; `settled`: the same as last let go; `turning`: whether the
 * recommended one is about to be turned.
 */
export function usePlanning(
  situation: Inputs["plans"]["explore"],
  knobs: { readonly asked: Knobs; readonly estimated: Knobs },
  {
    fixed,
    settled: around,
    turning,
  }: { readonly fixed: RoutingChoice | null; readonly settled: RoutingChoice | null; readonly turning: boolean },
): Planning {
  const { exploration, status, job, question, notes } = useExploration(situation);
  const { asked, estimated } = knobs;
  const settled = useDeferredValue(estimated);
  const choice = useMemo(() => (exploration === null ? null : choose(exploration, settled)), [exploration, settled]);
  const request = useMemo(
    () => ({
      ...situation,
      objective: { ...asked, percentile: PERCENTILE },
      fixed: fixed === null ? null : { ...fixed, models: [...fixed.models], thresholds: [...fixed.thresholds] },
    }),
    [situation, asked, fixed],
  );
  const exact = useExactPlan(request, exploration !== null && job.current);
  const recommended = useMemo(
    () => (exploration === null || choice === null || choice.chosen === null ? null : routingOf(exploration, choice.chosen.routing)),
    [exploration, choice],
  );
  const unchosen = useMemo(() => (exact.current && exact.plan !== null ? routingOfPlan(exact.plan) : recommended), [exact, recommended]);
  const atHand = fixed ?? unchosen;
  const lines = useLines(question, around ?? (turning ? unchosen : null), job.current);
  const wanted = useDeferredValue(fixed) ?? recommended;
  const found = useMemo(() => {
    if (exploration === null || choice === null || wanted === null) return null;
    return findRouting(wanted, { exploration, candidates: choice.candidates, lines }, settled);
  }, [exploration, choice, lines, settled, wanted]);
  const estimate = found?.candidate ?? null;
  return useMemo(
    () => ({ status, exploration, exploring: job, knobs: settled, choice, recommended, atHand, found, estimate, exact, notes }),
    [status, exploration, job, settled, choice, recommended, atHand, found, estimate, exact, notes],
  );
}
