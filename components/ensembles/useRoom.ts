"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";

/** Workers of so many GPUs that a cluster has free. undefined: it is being asked; null: nobody can tell. */
export function useRoom(clusterId: string, gpusPerWorker: number): number | null | undefined {
  // What is free changes.
  const { data, isError } = useQuery(useTRPC().batches.room.queryOptions({ clusterId, gpusPerWorker }, { staleTime: 0, retry: false }));
  if (data === undefined) return isError ? null : undefined;
  return data.ok ? data.workers : null;
}
