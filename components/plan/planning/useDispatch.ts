"use client";

import { useMemo, useState } from "react";
import { type Inputs, useTRPCClient } from "@/components/api/trpc";
import { useJob } from "@/components/api/useJob";
import type { DispatchAnswer, DispatchEvent, MissingForConfidence } from "@/server/contracts/studio";
import type { DispatchExploration } from "@/solver/dispatch/dispatchExploration";
import type { Doing } from "./JobProgress";

/** Slack dispatch on this workload and cluster, simulated over tau. */
export interface DispatchTables {
  /** null while it is simulated, and where it cannot be. */
  readonly exploration: DispatchExploration | null;
  /** What its confidences lack. */
  readonly missing: readonly MissingForConfidence[];
  /** What planning had to ignore, in sentences. */
  readonly notes: readonly string[];
  /** Why there is none; null where there is, or while it is simulated. */
  readonly refusal: Extract<DispatchAnswer, { ok: false }> | null;
  readonly error: { readonly message: string } | null;
  readonly job: Doing;
}

const nothing: readonly never[] = [];

/**
 * Requests the simulation of slack dispatch once it is `wanted`: after the exploration of the cascades, because both use the planner. Cascades
 * do not wait for it.
 *
 * @param situation memoised; with all constraints, because some of them exclude slack dispatch.
 */
export function useDispatch(situation: Inputs["plans"]["dispatch"], wanted: boolean): DispatchTables {
  const client = useTRPCClient();
  // Once wanted it stays: it remains in view when another kind of policy is asked for.
  const [asked, setAsked] = useState<Inputs["plans"]["dispatch"] | null>(null);
  if (wanted && asked !== situation) setAsked(situation);
  const job = useJob<Inputs["plans"]["dispatch"], Extract<DispatchEvent, { kind: "answer" }>>({
    name: "dispatch",
    question: situation,
    enabled: wanted || asked === situation,
    subscribe: (question, listener) => client.plans.dispatch.subscribe(question, listener),
  });
  const { error, working, progress, cancelled, cancel, ask } = job;
  const answer = job.current ? job.answer?.answer : undefined;
  return useMemo(
    () => ({
      exploration: answer?.ok === true ? answer.dispatch : null,
      missing: answer?.ok === true ? (answer.missing ?? nothing) : nothing,
      notes: answer?.ok === true ? (answer.notes ?? nothing) : nothing,
      refusal: answer?.ok === false ? answer : null,
      error,
      job: { working, progress, cancelled, cancel, ask },
    }),
    [answer, error, working, progress, cancelled, cancel, ask],
  );
}
