"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import type { Outcome } from "@/server/contracts/studio";

/** Something done to declared workflows. Whatever shows them is read anew when it is done or refused. */
export function useDeclaredAct<Order, Done extends object>(act: (order: Order) => Promise<Outcome<Done>>, onDone?: (done: Done) => void) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (order: Order) => unwrapOutcome(await act(order)),
    onSuccess: (done) => onDone?.(done),
    onSettled: () => queries.invalidateQueries(trpc.declaredWorkflows.pathFilter()),
  });
}
