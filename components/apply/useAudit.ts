"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { useAllowed } from "../api/useMe";

const LINES = 100;
const REFRESH_MS = 5_000;

/** The newest lines of the audit, polled: the gateway adds lines on its own. Not read for a person who may not. */
export function useAudit() {
  const trpc = useTRPC();
  const enabled = useAllowed("audit");
  return useQuery(trpc.audit.list.queryOptions({ limit: LINES }, { enabled, refetchInterval: REFRESH_MS }));
}
