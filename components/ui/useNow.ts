"use client";

import { useEffect, useState } from "react";

/** Unix milliseconds, updated every `everyMs` while the page is visible. null on the server and in the first paint. */
export function useNow(everyMs: number): number | null {
  const [nowMs, setNowMs] = useState<number | null>(null);
  useEffect(() => {
    setNowMs(Date.now());
    const timer = setInterval(() => {
      if (!document.hidden) setNowMs(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
