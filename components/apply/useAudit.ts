"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";

const LINES = 100;
const REFRESH_MS = 5_000;

/** The newest lines of the audit, polled: the gateway adds lines on its own. */
export function useAudit() {
  const trpc = useTRPC();
  return useQuery(trpc.audit.list.queryOptions({ limit: LINES }, { refetchInterval: REFRESH_MS }));
}
