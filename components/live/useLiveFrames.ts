"use client";

import { useQuery } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useEffect, useState } from "react";
import { useTRPC } from "../api/trpc";
import { createFrameStore, type FrameStore } from "./frameStore";

export type Connection = "connecting" | "open" | "lost";

/**
 * Frames of one cluster: the last minutes, then each new one. Samples go to the store, not through React state: a
 * component renders when what it selects changes. The caller mounts this per cluster (with `key`).
 */
export function useLiveFrames(clusterId: string): { readonly store: FrameStore; readonly connection: Connection } {
  const trpc = useTRPC();
  const [store] = useState(createFrameStore);
  const history = useQuery(trpc.live.history.queryOptions({ clusterId }, { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 }));
  useEffect(() => {
    if (history.data !== undefined) store.getState().actions.take(history.data);
  }, [history.data, store]);
  const { status } = useSubscription(
    trpc.live.stream.subscriptionOptions({ clusterId }, { onData: (event) => store.getState().actions.take([event.data]) }),
  );
  return { store, connection: status === "pending" ? "open" : status === "error" ? "lost" : "connecting" };
}
