"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Outcome } from "@/server/contracts/studio";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC } from "../api/trpc";

/** Something done to batches. Whatever shows them is read anew when it is done or refused. */
export function useBatchAct<Order, Done extends object>(act: (order: Order) => Promise<Outcome<Done>>, onDone?: (done: Done) => void) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (order: Order) => takeOutcome(await act(order)),
    onSuccess: (done) => onDone?.(done),
    onSettled: () => queries.invalidateQueries(trpc.batches.pathFilter()),
  });
}
