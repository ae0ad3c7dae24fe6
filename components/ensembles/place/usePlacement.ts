"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { useDebounced } from "@/components/ui/useDebounced";
import type { EnsemblePlacement, PlaceRequest } from "@/server/contracts/studio";

/** Delay after the last change before a request is sent. */
const STILL_MS = 400;

/** Cache key of placements in the page. */
export const placementKey = "placement";

/** A requested placement and its state. */
export interface Placing {
  /** The last one; of an earlier request while `current` is false. */
  readonly placement: EnsemblePlacement | undefined;
  readonly current: boolean;
  readonly error: { readonly message: string } | null;
  /** Unix milliseconds since when it is computed; null: it is not. */
  readonly sinceMs: number | null;
  readonly cancelled: boolean;
  readonly cancel: () => void;
  /** Asks again, after an error or a cancellation. */
  readonly ask: () => void;
}

/**
 * Requests the placement of an ensemble's experts. Replacing, cancelling or unmounting a request ends its call, which ends the planner's
 * thread: the last request wins. @param request null: there is none yet.
 */
export function usePlacement(request: PlaceRequest | null): Placing {
  const client = useTRPCClient();
  const queries = useQueryClient();
  const text = useDebounced(request === null ? "" : JSON.stringify(request), STILL_MS);
  const question = useMemo(() => (text === "" ? null : (JSON.parse(text) as PlaceRequest)), [text]);
  const [cancelled, setCancelled] = useState<string | null>(null);
  const [sinceMs, setSinceMs] = useState<number | null>(null);
  const queryKey = useMemo(() => [placementKey, text] as const, [text]);
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      if (question === null) throw new Error("There is nothing to place.");
      setSinceMs(Date.now());
      return unwrapOutcome(await client.ensembles.place.mutate(question, { signal })).placement;
    },
    enabled: question !== null && cancelled !== text,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const cancel = useCallback(() => {
    setCancelled(text);
    void queries.cancelQueries({ queryKey, exact: true });
  }, [queries, queryKey, text]);
  const ask = useCallback(() => {
    setCancelled(null);
    void refetch();
  }, [refetch]);
  const settled = request !== null && JSON.stringify(request) === text;
  const current = settled && data !== undefined && !isPlaceholderData && error === null;
  return { placement: data, current, error, sinceMs: isFetching ? sinceMs : null, cancelled: cancelled === text && !current, cancel, ask };
}
