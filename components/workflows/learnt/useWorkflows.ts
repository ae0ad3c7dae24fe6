"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";

/** Polling interval while the page is visible. */
const EVERY_MS = 2_000;
/** Polling interval of waiting records, which are many and change slowly. */
const WAITED_EVERY_MS = 10_000;

/**
 * What the cluster's gateway has learnt, polled while the page is visible. While it does not answer, the last answer is shown with the
 * error.
 */
export function useWorkflows(clusterId: string) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: trpc.workflows.get.queryKey({ clusterId }),
    queryFn: async ({ signal }) => unwrapOutcome(await client.workflows.get.query({ clusterId }, { signal })).learnt,
    refetchInterval: EVERY_MS,
    retry: false,
  });
}

export function useWaited(clusterId: string) {
  const trpc = useTRPC();
  return useQuery(trpc.workflows.waitTimes.queryOptions({ clusterId }, { refetchInterval: WAITED_EVERY_MS }));
}
