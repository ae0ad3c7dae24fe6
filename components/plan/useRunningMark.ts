"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "../api/trpc";
import type { Mark } from "../charts/prepareFrontier";
import type { Baseline } from "./prepareFrontierTable";
import { formatRouting } from "./routingKey";

/** Where the running plan lies on the frontier's axes, by what it promised. null while none runs or it is being read. */
export function useRunningMark(runningPlanId: string | null, byLowerBound: boolean): (Mark & Baseline) | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.plans.get.queryOptions({ planId: runningPlanId ?? "" }, { enabled: runningPlanId !== null, staleTime: Number.POSITIVE_INFINITY }),
  );
  return useMemo(() => {
    if (data === undefined || runningPlanId === null) return null;
    const { policy, predictions } = data.plan;
    const { quality, qualityBand, p95Seconds } = predictions;
    const key = formatRouting({ models: policy.stages.map((stage) => stage.model), thresholds: policy.thresholds });
    return { x: byLowerBound ? qualityBand.low : quality, y: p95Seconds, key, quality, p95Seconds };
  }, [data, runningPlanId, byLowerBound]);
}
