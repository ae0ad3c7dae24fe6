"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";

interface Room {
  /** undefined: not known yet; null: it cannot be determined. */
  readonly workers: number | null | undefined;
  /** `workers` belongs to another number of GPUs per worker: the current one is being requested. */
  readonly isEarlier: boolean;
}

/** Free workers of so many GPUs on a cluster; during a request, the earlier answer. */
export function useFreeWorkers(clusterId: string, gpusPerWorker: number): Room {
  const { data, isError, isPlaceholderData } = useQuery(
    useTRPC().batches.room.queryOptions(
      { clusterId, gpusPerWorker },
      // Free GPUs change over time.
      { staleTime: 0, retry: false, placeholderData: keepPreviousData },
    ),
  );
  if (data === undefined) return { workers: isError ? null : undefined, isEarlier: false };
  return { workers: data.ok ? data.workers : null, isEarlier: isPlaceholderData };
}
