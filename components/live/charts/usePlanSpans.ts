"use client";

import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "@/components/api/trpc";
import type { TimeWindow } from "@/components/charts/chartSpec";
import type { PlanSpan } from "./prepareBands";
import { promisedBy } from "./promisedBy";

/** The stream reports a plan that comes into force; polling covers what the stream misses. */
const REFRESH_MS = 30_000;

/** The plans in force in a time range, with their promises. */
export function usePlanSpans(clusterId: string, window: TimeWindow | null): readonly PlanSpan[] {
  const trpc = useTRPC();
  const { data: spans } = useQuery(
    trpc.live.plans.queryOptions(
      { clusterId, fromMs: window?.fromMs ?? 0, toMs: window?.toMs ?? 1 },
      { enabled: window !== null, refetchInterval: REFRESH_MS, placeholderData: keepPreviousData },
    ),
  );
  const planIds = useMemo(() => [...new Set((spans ?? []).map(({ planId }) => planId))], [spans]);
  const plans = useQueries({
    queries: planIds.map((planId) => trpc.plans.get.queryOptions({ planId }, { staleTime: Number.POSITIVE_INFINITY, retry: false })),
    combine: (answers) => answers.map(({ data }) => data?.plan ?? null),
  });
  return useMemo(
    () => (spans ?? []).map((span) => ({ ...span, predictions: promisedBy(plans[planIds.indexOf(span.planId)] ?? null) })),
    [spans, plans, planIds],
  );
}
