"use client";

import { useQuery } from "@tanstack/react-query";
import type { Me, Permission } from "@/server/contracts/studio";
import { useTRPC } from "./trpc";
import { whoMayText } from "./whoMayText";

/** The signed-in person; null until it is known. */
export function useMe(): Me | null {
  const trpc = useTRPC();
  return useQuery(trpc.session.me.queryOptions(undefined, { staleTime: 60_000 })).data ?? null;
}

/** Why the signed-in person may not do something, with the names of those who may; null: it is allowed, or not known yet. */
export function useHindrance(permission: Permission): string | null {
  const trpc = useTRPC();
  const me = useMe();
  const isRefused = me !== null && !me.permissions.includes(permission);
  const names = useQuery(trpc.session.whoMay.queryOptions({ permission }, { enabled: isRefused, staleTime: 60_000 })).data ?? [];
  return isRefused ? whoMayText(me.role, names) : null;
}

/** Whether the signed-in person is known to have a permission: what is asked for only then is never refused. */
export function useAllowed(permission: Permission): boolean {
  return useMe()?.permissions.includes(permission) ?? false;
}
