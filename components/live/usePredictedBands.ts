"use client";

import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import type { LiveFrame } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import type { PredictedBand } from "../charts/SeriesChart";
import { preparePlanSpans } from "./preparePlanSpans";

/** The p95 each plan of the range promised, over the time it was in force; nothing over the time of a plan that is not kept. */
export function usePredictedBands(frames: readonly LiveFrame[], rangeSeconds: number): readonly PredictedBand[] {
  const trpc = useTRPC();
  const spans = useMemo(() => preparePlanSpans(frames, rangeSeconds), [frames, rangeSeconds]);
  const planIds = [...new Set(spans.map((span) => span.planId))];
  const answers = useQueries({
    queries: planIds.map((planId) => trpc.plans.get.queryOptions({ planId }, { staleTime: Number.POSITIVE_INFINITY })),
  });
  return spans.flatMap(({ planId, fromMs, toMs }) => {
    const predictions = answers[planIds.indexOf(planId)]?.data?.plan.predictions;
    if (predictions === undefined) return [];
    return [{ fromMs, toMs, low: predictions.p95Band.low, high: predictions.p95Band.high, value: predictions.p95Seconds }];
  });
}
