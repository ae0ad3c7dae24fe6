"use client";

import { useQuery } from "@tanstack/react-query";
import type { Route } from "next";
import { useSearchParams } from "next/navigation";
import { useCallback, useMemo } from "react";
import type { ClusterSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { clusterCodec } from "./clusterCodec";
import { lastCluster } from "./lastCluster";
import { pickCluster } from "./pickCluster";

/** Polling interval of health and the running plan while no other component polls them. */
const REFRESH_MS = 5_000;

export function useClusters() {
  const trpc = useTRPC();
  return useQuery(trpc.clusters.list.queryOptions(undefined, { refetchInterval: REFRESH_MS }));
}

/** The current cluster of all pages. null while clusters are being read, or when there are none. */
export function useCurrentCluster(): ClusterSummary | null {
  const named = clusterCodec.parse(useSearchParams()).cluster;
  const { data } = useClusters();
  // Clusters and the last displayed one are read in the browser only.
  return useMemo(() => (data === undefined ? null : pickCluster(data, { named, last: lastCluster() })), [data, named]);
}

/** The name of a cluster in the address that does not exist, so that another is shown; null where it exists, or none is named. */
export function strayCluster(clusters: readonly { readonly spec: { readonly id: string } }[], named: string | null): string | null {
  return named === null || clusters.length === 0 || clusters.some(({ spec }) => spec.id === named) ? null : named;
}

/** Makes links that keep the chosen cluster. */
export function useClusterLink(): (path: string) => Route {
  const named = clusterCodec.parse(useSearchParams()).cluster;
  return useCallback(
    (path: string) => (named === null ? path : `${path}${path.includes("?") ? "&" : "?"}cluster=${encodeURIComponent(named)}`) as Route,
    [named],
  );
}
