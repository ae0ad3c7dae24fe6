"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Outcome } from "@/server/contracts/studio";
import { useTRPC } from "./trpc";
import { unwrapOutcome } from "./unwrapOutcome";

/** The hook for something done in rooms of the studio. Whatever shows what is in them is read anew when it is done or refused. */
export const actIn = (...rooms: readonly ("audit" | "batches" | "clusters" | "ensembles" | "profiles")[]) =>
  function useAct<Order, Done extends object>(act: (order: Order) => Promise<Outcome<Done>>, onDone?: (done: Done) => void) {
    const trpc = useTRPC();
    const queries = useQueryClient();
    return useMutation({
      mutationFn: async (order: Order) => unwrapOutcome(await act(order)),
      onSuccess: (done) => onDone?.(done),
      onSettled: () => Promise.all(rooms.map((room) => queries.invalidateQueries(trpc[room].pathFilter()))),
    });
  };
