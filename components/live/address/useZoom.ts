"use client";

import { useCallback, useEffect, useRef } from "react";
import type { TimeWindow } from "@/components/charts/chartSpec";

const isSame = (one: TimeWindow | null, other: TimeWindow | null): boolean => one?.fromMs === other?.fromMs && one?.toMs === other?.toMs;

/**
 * Zooming in and out step by step; the range is in the address.
 *
 * @param write puts a time range into the address: zooming in adds an entry to the browser's history, zooming out replaces
 * the current one, so that the browser's Back does not zoom in again.
 */
export function useZoom(zoom: TimeWindow | null, write: (zoom: TimeWindow | null, how: "push" | "replace") => void) {
  const before = useRef<readonly (TimeWindow | null)[]>([]);
  const current = useRef(zoom);
  useEffect(() => {
    current.current = zoom;
    if (zoom === null) before.current = [];
  }, [zoom]);
  const zoomTo = useCallback(
    (window: TimeWindow) => {
      before.current = [...before.current, current.current];
      write({ fromMs: Math.floor(window.fromMs), toMs: Math.ceil(window.toMs) }, "push");
    },
    [write],
  );
  const back = useCallback(() => {
    // The browser's Back may already have undone some of these steps.
    const at = before.current.findLastIndex((each) => !isSame(each, current.current));
    const to = before.current[at] ?? null;
    before.current = before.current.slice(0, Math.max(0, at));
    write(to, "replace");
  }, [write]);
  return { zoomTo, back };
}
