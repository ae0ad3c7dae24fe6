"use client";

import { useQuery } from "@tanstack/react-query";
import { useStore } from "zustand";
import { useTRPC } from "@/components/api/trpc";
import type { TimeWindow } from "@/components/charts/chartSpec";
import type { MeasuredRange } from "@/server/contracts/studio";
import type { Live } from "../stream/live";

const REFRESH_MS = 2_000;
/** Records of a request reach the studio some seconds after its end, and the two clocks may differ. */
const SETTLE_MS = 60_000;

interface Answered {
  readonly state: { readonly dataUpdatedAt: number };
}

/**
 * Polling interval of a range's measurements: every two seconds while it can change. A range in the past does not change,
 * so that polling ends with the first answer after it has settled.
 */
export function rangeRefresh(zoom: TimeWindow | null) {
  const settled = ({ state }: Answered): boolean => zoom !== null && state.dataUpdatedAt >= zoom.toMs + SETTLE_MS;
  return {
    staleTime: (query: Answered): number => (settled(query) ? Number.POSITIVE_INFINITY : 0),
    refetchInterval: (query: Answered): number | false => (settled(query) ? false : REFRESH_MS),
  };
}

/** The measurements in the page's range: the last `spanMs`, or the zoomed range. Frozen while the page is paused; null until known. */
export function useMeasuredRange(live: Live, clusterId: string, spanMs: number, zoom: TimeWindow | null): MeasuredRange | null {
  const paused = useStore(live.store, (state) => state.paused);
  const { data } = useQuery(
    useTRPC().live.measured.queryOptions({ clusterId, range: zoom ?? { lastMs: spanMs } }, { enabled: !paused, ...rangeRefresh(zoom) }),
  );
  return data ?? null;
}
