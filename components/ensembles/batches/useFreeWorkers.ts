"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";

interface Room {
  /** undefined: not known yet; null: nobody can tell. */
  readonly workers: number | null | undefined;
  /** `workers` are of other GPUs per worker: those of these are being asked. */
  readonly isEarlier: boolean;
}

/** Workers of so many GPUs that a cluster has free; while those are asked, the earlier answer. */
export function useFreeWorkers(clusterId: string, gpusPerWorker: number): Room {
  const { data, isError, isPlaceholderData } = useQuery(
    useTRPC().batches.room.queryOptions(
      { clusterId, gpusPerWorker },
      // What is free changes.
      { staleTime: 0, retry: false, placeholderData: keepPreviousData },
    ),
  );
  if (data === undefined) return { workers: isError ? null : undefined, isEarlier: false };
  return { workers: data.ok ? data.workers : null, isEarlier: isPlaceholderData };
}
