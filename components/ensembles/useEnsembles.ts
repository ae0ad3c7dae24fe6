"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Outcome } from "@/server/contracts/studio";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC } from "../api/trpc";

/** Ensembles that are kept, by name. */
export function useEnsembles() {
  return useQuery(useTRPC().ensembles.list.queryOptions());
}

/** Something done to ensembles, their samples or what a gateway serves of them. Whatever shows them is read anew when it is done or refused. */
export function useEnsembleAct<Order, Done extends object>(act: (order: Order) => Promise<Outcome<Done>>, onDone?: (done: Done) => void) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (order: Order) => takeOutcome(await act(order)),
    onSuccess: (done) => onDone?.(done),
    onSettled: () => queries.invalidateQueries(trpc.ensembles.pathFilter()),
  });
}
