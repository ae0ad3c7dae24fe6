"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import type { TRPCClientError } from "@trpc/client";
import { useCallback, useEffect, useMemo, useState } from "react";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { AppRouter } from "@/server/api/router";
import type { PlanningProgress } from "@/server/contracts/studio";
import { isUnanswered } from "./isUnanswered";

type Progress = { readonly kind: "progress"; readonly progress: PlanningProgress };

/** Callbacks of a subscription: the part of the client's observer that is used here. */
interface Listener<Event> {
  readonly onData: (event: Event) => void;
  readonly onError: (error: TRPCClientError<AppRouter>) => void;
  readonly onConnectionStateChange: (state: { readonly state: string; readonly error: TRPCClientError<AppRouter> | null }) => void;
}

/** A long-running query: its answer so far, its progress, and how to cancel it. */
export interface Job<Answer> {
  /** The last answer; of an earlier question while `current` is false. */
  readonly answer: Answer | undefined;
  /** Whether `answer` belongs to the current question. */
  readonly current: boolean;
  readonly error: { readonly message: string } | null;
  /** While it is worked on: since when. */
  readonly working: { readonly sinceMs: number } | null;
  /** The planner's current step, once reported. Separate from the rest, so that only its display is redrawn ten times a second. */
  readonly progress: StoreApi<PlanningProgress | null>;
  /** The operator cancelled it. */
  readonly cancelled: boolean;
  readonly cancel: () => void;
  /** Asks again, after an error or a cancellation. */
  readonly ask: () => void;
}

/**
 * Runs a query as a subscription that reports progress and ends with an answer, and caches the answer like query data. A question that is
 * replaced, cancelled, disabled or unmounted ends its subscription, which stops the planner: the last request wins.
 *
 * @param question compared by identity, so pass a memoised object.
 * @param subscribe starts the subscription; the first event that is not progress is the answer.
 */
export function useJob<Question extends object, Event extends { readonly kind: string }>(options: {
  readonly name: string;
  readonly question: Question;
  readonly enabled: boolean;
  readonly subscribe: (question: Question, listener: Listener<Event | Progress>) => { unsubscribe(): void };
}): Job<Event> {
  const { name, question, enabled, subscribe } = options;
  const queries = useQueryClient();
  const [cancelled, setCancelled] = useState<Question | null>(null);
  const [working, setWorking] = useState<Job<Event>["working"]>(null);
  const [progress] = useState(() => createStore<PlanningProgress | null>(() => null));
  const wanted = enabled && cancelled !== question;
  const queryKey = useMemo(() => [name, question] as const, [name, question]);
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      new Promise<Event>((resolve, reject) => {
        setWorking({ sinceMs: Date.now() });
        progress.setState(null, true);
        const subscription = subscribe(question, {
          onData: (event) => {
            if (isProgress(event)) return progress.setState(event.progress, true);
            subscription.unsubscribe();
            resolve(event);
          },
          onError: reject,
          // The link reconnects after an error of the studio, which would repeat; so it is closed here. A studio that is unreachable is
          // waited for.
          onConnectionStateChange: ({ error }) => {
            if (error === null || isUnanswered(error)) return;
            subscription.unsubscribe();
            reject(error);
          },
        });
        signal.addEventListener("abort", () => {
          subscription.unsubscribe();
          reject(signal.reason);
        });
      }),
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const { data, error, refetch, isFetching, isPlaceholderData } = query;
  // A query that nobody wants any more would go on, and the planner with it.
  useEffect(() => {
    if (!enabled) void queries.cancelQueries({ queryKey, exact: true });
  }, [enabled, queries, queryKey]);
  const cancel = useCallback(() => {
    setCancelled(question);
    void queries.cancelQueries({ queryKey, exact: true });
  }, [queries, queryKey, question]);
  const ask = useCallback(() => {
    setCancelled(null);
    void refetch();
  }, [refetch]);
  const current = enabled && data !== undefined && !isPlaceholderData && error === null;
  const busy = isFetching ? working : null;
  const stopped = cancelled === question && !current;
  return useMemo(
    () => ({ answer: data, current, error, working: busy, progress, cancelled: stopped, cancel, ask }),
    [data, current, error, busy, progress, stopped, cancel, ask],
  );
}

function isProgress(event: { readonly kind: string }): event is Progress {
  return event.kind === "progress";
}
