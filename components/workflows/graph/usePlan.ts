"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";

/** A stored plan, which never changes. */
export function usePlan(planId: string | null) {
  const trpc = useTRPC();
  return useQuery(trpc.plans.get.queryOptions({ planId: planId ?? "" }, { enabled: planId !== null, staleTime: Number.POSITIVE_INFINITY }));
}
