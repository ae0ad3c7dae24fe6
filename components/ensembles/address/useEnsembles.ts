"use client";

import { useQuery } from "@tanstack/react-query";
import { actIn } from "@/components/api/actIn";
import { useTRPC } from "@/components/api/trpc";

/** Ensembles that are kept, by name. */
export function useEnsembles() {
  return useQuery(useTRPC().ensembles.list.queryOptions());
}

/** Something done to ensembles, their samples or what a gateway serves of them. */
export const useEnsembleAct = actIn("ensembles");
