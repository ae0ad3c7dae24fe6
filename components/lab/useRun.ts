"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { LabRun } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";

/**
 * The current state of a run. Only unknown cells are read, all in the order of the description: whichever finished first, sums
 * over them are the same to the last digit. A run that was deleted and started again in between is read completely.
 *
 * @param read requests the run without the first `since` of its cells.
 * @returns null where there is no such run.
 */
export async function joinRun(known: LabRun | null, read: (since: number) => Promise<LabRun | null>): Promise<LabRun | null> {
  const run = await read(known?.cells.length ?? 0);
  if (run === null) return null;
  if (known !== null && known.createdAt !== run.createdAt) return joinRun(null, read);
  const cells = [...(known?.cells ?? []), ...run.cells];
  return { ...run, cells: cells.sort((a, b) => a.seed - b.seed || a.rate - b.rate || a.system - b.system) };
}

const REFRESH_MS = 1_500;

/** A run with its cells. While it continues it is polled, each time for the cells that are not here yet. */
export function useRun(id: string | null) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const { queryKey } = trpc.lab.get.queryOptions({ id: id ?? "" });
  return useQuery({
    queryKey,
    queryFn: () => joinRun(queries.getQueryData(queryKey) ?? null, (since) => client.lab.get.query({ id: id ?? "", since })),
    enabled: id !== null,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.state === "running" ? REFRESH_MS : false),
  });
}
