"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";

/** Ensembles that are kept, by name. */
export function useEnsembles() {
  return useQuery(useTRPC().ensembles.list.queryOptions());
}
