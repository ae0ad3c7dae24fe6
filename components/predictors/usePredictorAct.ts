"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Outcome } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";

/** Something done to predictors. Whatever shows them is read anew when it is done or refused. */
export function usePredictorAct<Order, Done extends object>(act: (order: Order) => Promise<Outcome<Done>>, onDone?: (done: Done) => void) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (order: Order) => unwrapOutcome(await act(order)),
    onSuccess: (done) => onDone?.(done),
    onSettled: () => queries.invalidateQueries(trpc.artefacts.pathFilter()),
  });
}
