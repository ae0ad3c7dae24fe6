"use client";

import { useQuery } from "@tanstack/react-query";
import type { Route } from "next";
import { useSearchParams } from "next/navigation";
import { useCallback } from "react";
import type { ClusterSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { clusterCodec } from "./clusterCodec";

/** How often health and the running plan are looked at while nothing else asks for them. */
const REFRESH_MS = 5_000;

export function useClusters() {
  const trpc = useTRPC();
  return useQuery(trpc.clusters.list.queryOptions(undefined, { refetchInterval: REFRESH_MS }));
}

/** The cluster named in the address; without one, the first that can run plans, else the first there is. */
function pickCluster(clusters: readonly ClusterSummary[], named: string | null): ClusterSummary | null {
  return (
    clusters.find((cluster) => cluster.spec.id === named) ??
    clusters.find((cluster) => cluster.health.word !== "not connected") ??
    clusters[0] ??
    null
  );
}

/** The cluster every page speaks of. null while clusters are being read, or when there are none. */
export function useCurrentCluster(): ClusterSummary | null {
  const named = clusterCodec.parse(useSearchParams()).cluster;
  const { data } = useClusters();
  return data === undefined ? null : pickCluster(data, named);
}

/** The name of a cluster in the address that is not there, so that another is spoken of; null while it is, or none is named. */
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
