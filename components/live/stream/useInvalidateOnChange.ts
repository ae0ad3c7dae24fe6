"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import { useTRPC } from "@/components/api/trpc";
import type { Live } from "./live";
import { panicOf } from "./preparePanic";

/** Invalidates other queries of the cluster once the stream's frames report another plan, gateway or panic, so that they need no polling. */
export function useInvalidateOnChange(live: Live): void {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const news = useStore(live.store, ({ frames }) => {
    const frame = frames.at(-1);
    return frame === undefined ? null : [frame.planId, frame.gateway.state, panicOf(frame)?.model].join();
  });
  const seen = useRef(news);
  useEffect(() => {
    const changed = seen.current !== null && seen.current !== news;
    seen.current = news;
    if (!changed) return;
    for (const filter of [trpc.clusters.pathFilter(), trpc.live.plans.pathFilter()]) void queries.invalidateQueries(filter);
  }, [news, queries, trpc]);
}
