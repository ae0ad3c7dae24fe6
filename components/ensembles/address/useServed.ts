"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";

/** Polling interval while the page is visible. */
const EVERY_MS = 2_000;

/**
 * Ensembles that the cluster's gateway serves, polled while the page is visible. While it does not answer, the last answer is shown with
 * the error.
 */
export function useServed(clusterId: string, options: { readonly enabled: boolean }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: trpc.ensembles.served.queryKey({ clusterId }),
    queryFn: async ({ signal }) => unwrapOutcome(await client.ensembles.served.query({ clusterId }, { signal })).served,
    refetchInterval: EVERY_MS,
    retry: false,
    enabled: options.enabled,
  });
}
