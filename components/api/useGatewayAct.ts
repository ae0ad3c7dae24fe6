"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Outcome } from "@/server/contracts/studio";
import { takeOutcome } from "./takeOutcome";
import { useTRPC } from "./trpc";

/** Something an operator does to live traffic. Whatever shows the gateway's state is read anew when it is done or refused. */
export function useGatewayAct<Order, Done extends object>(act: (order: Order) => Promise<Outcome<Done>>, onDone?: (done: Done) => void) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (order: Order) => takeOutcome(await act(order)),
    onSuccess: (done) => onDone?.(done),
    onSettled: () =>
      Promise.all([queries.invalidateQueries(trpc.clusters.pathFilter()), queries.invalidateQueries(trpc.audit.pathFilter())]),
  });
}
