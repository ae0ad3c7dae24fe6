"use client";

import { useQuery } from "@tanstack/react-query";
import type { Proposal } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";

const REFRESH_MS = 5_000;

/** The open proposal; null: none, or proposals are being read. */
export function useOpenProposal(clusterId: string): Proposal | null {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.proposals.list.queryOptions({ clusterId }, { refetchInterval: REFRESH_MS }));
  return data?.find(({ state }) => state === "open") ?? null;
}
