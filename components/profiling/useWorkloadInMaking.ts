import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { type Outputs, useTRPC } from "../api/trpc";

const REFRESH_MS = 500;

/**
 * The workload that is being made of a profile, ordered by this page or before it was loaded; null where none is. Once it ends, the profile and
 * the workloads are read again.
 *
 * @param ordered whether this page waits for one: the studio is then asked until it ends.
 */
export function useWorkloadInMaking(jobId: string, ordered: boolean): Outputs["profiles"]["workloadInMaking"] {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { data = null } = useQuery(
    trpc.profiles.workloadInMaking.queryOptions(
      { jobId },
      { staleTime: 0, gcTime: 0, refetchInterval: ({ state }) => (ordered || state.data != null ? REFRESH_MS : false) },
    ),
  );
  const isMaking = data !== null;
  const wasMaking = useRef(false);
  useEffect(() => {
    if (wasMaking.current && !isMaking)
      for (const filter of [trpc.profiles.get.pathFilter(), trpc.workloads.pathFilter()]) void queries.invalidateQueries(filter);
    wasMaking.current = isMaking;
  }, [isMaking, queries, trpc]);
  return data;
}
