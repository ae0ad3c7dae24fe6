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
 * How often what was measured in a range is asked for: every two seconds while it can change. A stretch that lies in the past changes
 * no more, so that the first answer after it has settled is the last one asked for.
 */
export function rangeRefresh(zoom: TimeWindow | null) {
  const settled = ({ state }: Answered): boolean => zoom !== null && state.dataUpdatedAt >= zoom.toMs + SETTLE_MS;
  return {
    staleTime: (query: Answered): number => (settled(query) ? Number.POSITIVE_INFINITY : 0),
    refetchInterval: (query: Answered): number | false => (settled(query) ? false : REFRESH_MS),
  };
}

/** What was measured in the range that the page shows: the last `spanMs`, or the stretch zoomed to. Held while the page is paused; null until it is known. */
export function useMeasuredRange(live: Live, clusterId: string, spanMs: number, zoom: TimeWindow | null): MeasuredRange | null {
  const paused = useStore(live.store, (state) => state.paused);
  const { data } = useQuery(
    useTRPC().live.measured.queryOptions({ clusterId, range: zoom ?? { lastMs: spanMs } }, { enabled: !paused, ...rangeRefresh(zoom) }),
  );
  return data ?? null;
}
