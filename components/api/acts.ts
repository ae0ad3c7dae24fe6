"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Outcome } from "@/server/contracts/studio";
import { type Outputs, useTRPC } from "./trpc";
import { unwrapOutcome } from "./unwrapOutcome";

/** A hook for mutations in domains of the API. Queries of these domains are read again once the mutation is done or refused. */
const actIn = (...rooms: readonly (keyof Outputs)[]) =>
  function useAct<Order = void, Done extends object = object>(
    act: (order: Order) => Promise<Outcome<Done>>,
    onDone?: (done: Done, order: Order) => void,
  ) {
    const trpc = useTRPC();
    const queries = useQueryClient();
    return useMutation({
      mutationFn: async (order: Order) => unwrapOutcome(await act(order)),
      onSuccess: (done, order) => onDone?.(done, order),
      onSettled: () => Promise.all(rooms.map((room) => queries.invalidateQueries(trpc[room].pathFilter()))),
    });
  };

/** Something that changes nothing the studio shows. */
export const useAct = actIn();
/** Something done to a roll-out. */
export const useApplicationAct = actIn("applications");
export const useBatchAct = actIn("batches");
export const useDeclaredAct = actIn("declaredWorkflows");
/** Something done to ensembles, their samples or what a gateway serves of them. */
export const useEnsembleAct = actIn("ensembles");
/** Something an operator does to live traffic. */
export const useGatewayAct = actIn("clusters", "audit", "gateway");
/** Something done to people, sessions, tokens or keys. */
export const usePeopleAct = actIn("people", "gatewayKeys", "session");
export const useLabAct = actIn("lab");
/** A label of a served answer. */
export const useLabelAct = actIn("labels");
export const usePlanAct = actIn("plans");
export const usePredictorAct = actIn("artefacts");
export const useProfileAct = actIn("profiles");
export const useProposalAct = actIn("proposals");
export const useScheduleAct = actIn("schedules");
