"use client";

import { useQueries } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { type PlannedFloor, plannedFloor } from "./plannedFloor";

/** The floor that plans on these workloads name. null while it is being read. */
export function usePlannedFloor(workloadIds: readonly string[]): PlannedFloor | null {
  const trpc = useTRPC();
  const ties = useQueries({ queries: workloadIds.map((id) => trpc.workloads.lineage.queryOptions({ id })) });
  if (ties.some(({ isPending }) => isPending)) return null;
  return plannedFloor(ties.flatMap(({ data }) => data?.plans ?? []));
}
