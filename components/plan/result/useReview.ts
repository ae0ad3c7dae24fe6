"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { useClusterLink } from "@/components/shell/useCurrentCluster";

/** Keeps a plan and opens the page on which it is reviewed and applied. */
export function useReview() {
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  return useMutation({
    mutationFn: async (planId: string) => unwrapOutcome(await client.plans.keep.mutate({ planId })),
    onSuccess: (kept) => router.push(link(`/apply/${kept.id}`)),
  });
}
