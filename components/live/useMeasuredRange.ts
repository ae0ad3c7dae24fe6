"use client";

import { useQuery } from "@tanstack/react-query";
import { useStore } from "zustand";
import type { MeasuredRange } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import type { TimeWindow } from "../charts/chartSpec";
import type { Live } from "./live";

const REFRESH_MS = 2_000;

/** What was measured in the range that the page shows: the last `spanMs`, or the stretch zoomed to. Held while the page is paused; null until it is known. */
export function useMeasuredRange(live: Live, clusterId: string, spanMs: number, zoom: TimeWindow | null): MeasuredRange | null {
  const paused = useStore(live.store, (state) => state.paused);
  const { data } = useQuery(
    useTRPC().live.measured.queryOptions(
      { clusterId, range: zoom ?? { lastMs: spanMs } },
      { staleTime: 0, enabled: !paused, refetchInterval: REFRESH_MS },
    ),
  );
  return data ?? null;
}
