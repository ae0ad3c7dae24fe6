"use client";

import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "../api/trpc";
import { useClusters } from "../shell/useCurrentCluster";
import { type EndpointCluster, type ModelSizes, prepareProfileEndpoints } from "./profileEndpoints";

/** Engines start and stop while a profile is being filled in. */
const REFRESH_MS = 5_000;

/** The available models and judges; null while clusters are being read. */
export function useProfileEndpoints(): { readonly ground: readonly EndpointCluster[]; readonly sizes: ModelSizes } | null {
  const trpc = useTRPC();
  const { data: clusters } = useClusters();
  const cards = useQuery(trpc.cards.list.queryOptions()).data;
  const connected = useMemo(() => (clusters ?? []).filter(({ health }) => health.state !== "not-connected"), [clusters]);
  const details = useQueries({
    queries: connected.map(({ spec }) => trpc.clusters.detail.queryOptions({ clusterId: spec.id }, { refetchInterval: REFRESH_MS })),
    combine: (results) => ({
      known: results.flatMap(({ data }) => (data == null ? [] : [data])),
      waiting: results.some(({ isPending }) => isPending),
    }),
  });
  const sizes = useMemo(() => new Map((cards?.models ?? []).map(({ id, paramsB }) => [id, paramsB])), [cards]);
  const ground = useMemo(
    () => prepareProfileEndpoints(connected, new Map(details.known.map((detail) => [detail.clusterId, detail])), sizes),
    [connected, details.known, sizes],
  );
  return useMemo(
    () => (clusters === undefined || cards === undefined || details.waiting ? null : { ground, sizes }),
    [clusters, cards, details.waiting, ground, sizes],
  );
}
