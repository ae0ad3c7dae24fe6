"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { joinRun } from "./joinRun";

const REFRESH_MS = 1_500;

/** A run with its cells. While it goes on it is asked for again and again, each time for the cells that are not here yet. */
export function useRun(id: string | null) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const { queryKey } = trpc.lab.get.queryOptions({ id: id ?? "" });
  return useQuery({
    queryKey,
    queryFn: () => joinRun(queries.getQueryData(queryKey) ?? null, (since) => client.lab.get.query({ id: id ?? "", since })),
    enabled: id !== null,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.state === "running" ? REFRESH_MS : false),
  });
}
