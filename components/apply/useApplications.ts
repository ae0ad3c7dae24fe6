"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { isActive } from "./prepareRevisions";

/** Looked at this often while one changes the cluster; seldom otherwise. */
const BUSY_MS = 500;
const IDLE_MS = 4_000;

/** Applications of a cluster, followed closely while one runs. The server holds the state, so a reload loses nothing. */
export function useApplications(clusterId: string) {
  const trpc = useTRPC();
  return useQuery(
    trpc.applications.list.queryOptions(
      { clusterId },
      { staleTime: 0, refetchInterval: (query) => (query.state.data?.some(isActive) ? BUSY_MS : IDLE_MS) },
    ),
  );
}
