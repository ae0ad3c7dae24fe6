"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "@/components/api/trpc";
import { formatRate } from "@/components/ui/format";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import { routingOfPlan } from "../address/routingOf";
import type { RunningPlan } from "./prepareCompare";

/**
 * The running plan by its promises, on the axes of the comparison. null while none runs or it is being read.
 *
 * @param traffic the traffic planned for on the page.
 */
export function useRunningPlan(
  runningPlanId: string | null,
  { latency, qualityConfidence }: Pick<Knobs, "latency" | "qualityConfidence">,
  { workloadId, requestsPerSecond }: { readonly workloadId: string; readonly requestsPerSecond: number },
): RunningPlan | null {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.plans.get.queryOptions({ planId: runningPlanId ?? "" }, { enabled: runningPlanId !== null, staleTime: Number.POSITIVE_INFINITY }),
  );
  return useMemo(() => {
    if (data === undefined || runningPlanId === null) return null;
    const { policy, predictions, deployment, inputs } = data.plan;
    const { quality, qualityBand, p95Seconds, largestStageP95Seconds, costUsdPerRequest } = predictions;
    const routing = routingOfPlan(data.plan);
    const { workload } = inputs;
    const otherTraffic = [
      // Its effect is not predicted: the figures are those of the plan it was made from.
      ...(policy.kind === "just-in-time" ? ["without choosing models just in time"] : []),
      ...(workload.id === workloadId ? [] : [`for ${workload.name}`]),
      ...(workload.requestsPerSecond === requestsPerSecond ? [] : [`at ${formatRate(workload.requestsPerSecond)}`]),
    ].join(" ");
    return {
      otherTraffic: otherTraffic === "" ? null : otherTraffic,
      routing,
      gpus: routing.models.map((model) => deployment.find((each) => each.model === model)?.gpus ?? 0),
      quality,
      figures: {
        quality: qualityConfidence === null ? quality : qualityBand.low,
        latency: latency === "end-to-end" ? p95Seconds : largestStageP95Seconds,
        cost: costUsdPerRequest,
        gpus: deployment.reduce((sum, each) => sum + each.gpus, 0),
      },
    };
  }, [data, runningPlanId, latency, qualityConfidence, workloadId, requestsPerSecond]);
}
