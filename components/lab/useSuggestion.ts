"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { LabSpec, LabSuggestionRequest } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useDebounced } from "../ui/useDebounced";

/** How long engines or a mix that are being edited must be still before systems are suggested for them. */
const STILL_MS = 300;

/**
 * What the studio suggests for a workload: a whole description while there is none, and for the engines and the mix of one that is there its
 * systems and their saturation rate. Where the plan is gone whose engines are asked for, the suggestion is the one without it, and says so.
 * The earlier suggestion stays until the next has come.
 */
export function useSuggestion(workloadId: string | null, planId: string | null, spec: LabSpec | null) {
  const client = useTRPCClient();
  const asked = JSON.stringify({
    workloadId,
    ...(planId !== null && { planId }),
    ...(spec !== null && { given: { replicas: spec.replicas, mix: spec.mix, correlation: spec.correlation, misleads: spec.misleads } }),
  });
  const still = useDebounced(asked, STILL_MS);
  // The first one is not waited for.
  const text = still.startsWith(`{"workloadId":${JSON.stringify(workloadId)}`) ? still : asked;
  return useQuery({
    queryKey: ["lab.suggest", text],
    queryFn: async () => {
      const { planId: asked, ...rest } = JSON.parse(text) as LabSuggestionRequest;
      const outcome = await client.lab.suggest.mutate({ ...rest, ...(asked !== undefined && { planId: asked }) });
      const planGone = asked !== undefined && !outcome.ok && outcome.field?.path === "planId";
      return { ...unwrapOutcome(planGone ? await client.lab.suggest.mutate(rest) : outcome).suggestion, planGone };
    },
    enabled: workloadId !== null,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    retry: false,
  });
}
