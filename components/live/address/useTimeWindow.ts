"use client";

import { useMemo } from "react";
import type { TimeWindow } from "@/components/charts/chartSpec";
import { useNow } from "@/components/ui/useNow";

const MINUTE_MS = 60_000;

/**
 * The stretch of time that the page is about, for what is asked beside the charts: where it follows the present, whole minutes from
 * before the span to after now, so that it is another question once a minute. null until the clock is known.
 */
export function useTimeWindow(spanMs: number, zoom: TimeWindow | null): TimeWindow | null {
  const nowMs = useNow(MINUTE_MS / 4);
  const minute = nowMs === null ? null : Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return useMemo(
    () => zoom ?? (minute === null ? null : { fromMs: Math.max(0, minute - spanMs), toMs: minute + 2 * MINUTE_MS }),
    [zoom, minute, spanMs],
  );
}
