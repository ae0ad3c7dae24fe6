"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ProfileRequest } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useDebounced } from "../ui/useDebounced";

/** How still a form must be before it is reckoned. */
const STILL_MS = 500;

/** Engines come and go while a form is open. */
const REFRESH_MS = 15_000;

/** What a profile would take; that of an earlier request, called so, while a new one is reckoned. `request`: memoised. */
export function useEstimate(request: ProfileRequest | null) {
  const client = useTRPCClient();
  const still = useDebounced(request, STILL_MS);
  const query = useQuery({
    queryKey: ["profile estimate", still],
    queryFn: async ({ signal }) => {
      if (still === null) throw new Error("Nothing is asked.");
      return unwrapOutcome(await client.profiles.estimate.mutate(still, { signal })).estimate;
    },
    enabled: still !== null,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return { query, current: still === request && !query.isPlaceholderData && query.data !== undefined };
}
