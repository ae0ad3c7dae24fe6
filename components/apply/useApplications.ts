"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useTRPC } from "../api/trpc";
import { isActive } from "./prepareRevisions";

/** Polling interval while an application changes the cluster; longer otherwise. */
const BUSY_MS = 500;
const IDLE_MS = 4_000;

/**
 * Applications of a cluster, polled closely while one runs. The server holds the state, so a reload loses nothing. When
 * one changes its state, the other data of the cluster (its running plan, differences from it) is read again at once.
 */
export function useApplications(clusterId: string) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const query = useQuery(
    trpc.applications.list.queryOptions(
      { clusterId },
      { staleTime: 0, refetchInterval: (current) => (current.state.data?.some(isActive) ? BUSY_MS : IDLE_MS) },
    ),
  );
  const states = query.data?.map(({ id, state }) => `${id} ${state}`).join();
  const seen = useRef(states);
  useEffect(() => {
    const changed = seen.current !== undefined && seen.current !== states;
    seen.current = states;
    if (!changed) return;
    for (const filter of [
      trpc.clusters.pathFilter(),
      trpc.plans.list.pathFilter(),
      trpc.plans.diff.pathFilter(),
      trpc.plans.capacityDip.pathFilter(),
      trpc.plans.generated.pathFilter(),
      trpc.applications.journal.pathFilter(),
    ]) {
      void queries.invalidateQueries(filter);
    }
  }, [states, queries, trpc]);
  return query;
}
