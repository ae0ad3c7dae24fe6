"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { isUnanswered } from "@/components/api/isUnanswered";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import type { ReplayRequest } from "@/server/contracts/studio";

/** A gate on a sample at every tau, so that moving tau requests nothing. The previous report stays until the new one arrives. */
export function useGateReport(request: ReplayRequest | null) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: [...trpc.ensembles.replay.pathKey(), request],
    queryFn: async ({ signal }) => {
      if (request === null) throw new Error("There is no gate to replay.");
      return unwrapOutcome(await client.ensembles.replay.query(request, { signal })).report;
    },
    enabled: request !== null,
    placeholderData: keepPreviousData,
    retry: (failures, error) => failures < 2 && isUnanswered(error),
  });
}
