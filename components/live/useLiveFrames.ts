"use client";

import { useQuery } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useEffect, useState } from "react";
import { useTRPC } from "../api/trpc";
import { createFrameStore, type FrameStore } from "./frameStore";
import { createTurns, isOutOfSight, type Turns } from "./turns";

export type Connection = "connecting" | "open" | "lost";

/** Frames of one cluster as they come, and the turns in which pieces of the page draw them. */
export interface Live {
  readonly store: FrameStore;
  readonly turns: Turns;
}

/**
 * Frames of one cluster: the last minutes, then each new one. Samples go to the store, not through React state: what is
 * drawn of them takes turns (`useDrawn`). The caller mounts this per cluster (with `key`).
 */
export function useLiveFrames(clusterId: string): { readonly live: Live; readonly connection: Connection } {
  const trpc = useTRPC();
  const [live] = useState<Live>(() => ({ store: createFrameStore(), turns: createTurns(isOutOfSight) }));
  const { store } = live;
  const history = useQuery(trpc.live.history.queryOptions({ clusterId }, { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 }));
  useEffect(() => {
    if (history.data !== undefined) store.getState().actions.take(history.data);
  }, [history.data, store]);
  const { status } = useSubscription(
    trpc.live.stream.subscriptionOptions({ clusterId }, { onData: (event) => store.getState().actions.take([event.data]) }),
  );
  return { live, connection: status === "pending" ? "open" : status === "error" ? "lost" : "connecting" };
}
