"use client";

import { useQuery } from "@tanstack/react-query";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC, useTRPCClient } from "../api/trpc";

/** How often the gateway is asked while the page is seen. */
const EVERY_MS = 2_000;

/** The latest rounds of the cluster's policy, asked anew while the page is seen. While the gateway does not answer the last picture stays, with the error. */
export function useRounds(clusterId: string) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: trpc.workflows.rounds.queryKey({ clusterId }),
    queryFn: async ({ signal }) => takeOutcome(await client.workflows.rounds.query({ clusterId }, { signal })).seen,
    refetchInterval: EVERY_MS,
    retry: false,
  });
}
