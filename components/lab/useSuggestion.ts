"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { LabSpec, LabSuggestionRequest } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useAllowed } from "../api/useMe";
import { useDebounced } from "../ui/useDebounced";

/** Delay after the last edit of engines or mix before systems are suggested for them. */
const STILL_MS = 300;

/**
 * The studio's suggestion for a workload: a whole description while there is none; else, for the engines and the mix of the description,
 * the systems and their saturation rate. If the plan whose engines are requested is gone, the suggestion is made without it, and says so.
 * The earlier suggestion stays until the next has arrived.
 */
export function useSuggestion(workloadId: string | null, planId: string | null, spec: LabSpec | null) {
  const client = useTRPCClient();
  const mayAsk = useAllowed("prepare");
  const asked = JSON.stringify({
    workloadId,
    ...(planId !== null && { planId }),
    ...(spec !== null && { given: { replicas: spec.replicas, mix: spec.mix, correlation: spec.correlation, misleads: spec.misleads } }),
  });
  const still = useDebounced(asked, STILL_MS);
  // The first one is requested without delay.
  const text = still.startsWith(`{"workloadId":${JSON.stringify(workloadId)}`) ? still : asked;
  return useQuery({
    queryKey: ["lab.suggest", text],
    queryFn: async () => {
      const { planId: asked, ...rest } = JSON.parse(text) as LabSuggestionRequest;
      const outcome = await client.lab.suggest.mutate({ ...rest, ...(asked !== undefined && { planId: asked }) });
      const planGone = asked !== undefined && !outcome.ok && outcome.field?.path === "planId";
      return { ...unwrapOutcome(planGone ? await client.lab.suggest.mutate(rest) : outcome).suggestion, planGone };
    },
    enabled: workloadId !== null && mayAsk,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    retry: false,
  });
}
