"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";

/** Stored ensembles, by name. */
export function useEnsembles() {
  return useQuery(useTRPC().ensembles.list.queryOptions());
}
