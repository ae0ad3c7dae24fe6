"use client";

import { useEffect, useMemo, useRef } from "react";
import { type Inputs, useTRPCClient } from "@/components/api/trpc";
import { useJob } from "@/components/api/useJob";
import type { ExploreEvent } from "@/server/contracts/studio";
import type { Exploration } from "@/solver/cascade/explore/exploration";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import type { RoutingChoice } from "../address/routingKey";

type Question = Inputs["plans"]["explore"];

/** Any threshold: with two stages the only line contains all of them, so that it is requested once. */
const ANY_THRESHOLD = 50;

/** The cascade whose lines are requested; null where it has none. */
function aroundOf(routing: RoutingChoice | null, { directStart }: Question): Question["around"] {
  if (routing === null || routing.thresholds.length === 0) return null;
  const thresholds = routing.thresholds.length === 1 && directStart === undefined ? [ANY_THRESHOLD] : [...routing.thresholds];
  return { ...routing, models: [...routing.models], thresholds };
}

/**
 * A cascade set by hand with all that differ from it in one threshold, explored by the planner. During the exploration, those around
 * the previous cascade are used: they mostly include the current one, because one threshold is changed at a time. null while there are
 * none.
 *
 * @param situation memoised; nothing is requested before its exploration is available.
 */
export function useLines(situation: Question, routing: RoutingChoice | null, ready: boolean): Exploration | null {
  const client = useTRPCClient();
  const around = JSON.stringify(aroundOf(routing, situation));
  const question = useMemo((): Question => ({ ...situation, around: JSON.parse(around) }), [situation, around]);
  const job = useJob<Question, Extract<ExploreEvent, { kind: "answer" }>>({
    name: "lines",
    question,
    enabled: ready && question.around !== null,
    subscribe: (asked, listener) => client.plans.explore.subscribe(asked, listener),
  });
  const answer = job.current ? job.answer?.answer : undefined;
  const fresh = useMemo(() => (answer?.ok ? decodeExploration(answer.exploration) : null), [answer]);
  const last = useRef<{ readonly situation: Question; readonly lines: Exploration } | null>(null);
  useEffect(() => {
    if (fresh !== null) last.current = { situation, lines: fresh };
  }, [fresh, situation]);
  return fresh ?? (last.current?.situation === situation ? last.current.lines : null);
}
