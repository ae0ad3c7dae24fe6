"use client";

import { useQuery } from "@tanstack/react-query";
import type { Me, Permission } from "@/server/contracts/studio";
import { useTRPC } from "./trpc";

/** The signed-in person; null until it is known. */
export function useMe(): Me | null {
  const trpc = useTRPC();
  return useQuery(trpc.session.me.queryOptions(undefined, { staleTime: 60_000 })).data ?? null;
}

/** Whether the signed-in person has a permission, and if not, who has; `names` is empty until it is known. */
export function useMay(permission: Permission): { readonly may: boolean; readonly names: readonly string[] } {
  const trpc = useTRPC();
  const me = useMe();
  const may = me?.permissions.includes(permission) ?? true;
  const names = useQuery(trpc.session.whoMay.queryOptions({ permission }, { enabled: !may })).data ?? [];
  return { may, names };
}
