"use client";

import { useRouter } from "next/navigation";
import { useAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { useClusterLink } from "@/components/shell/useCurrentCluster";

/** Saves a plan and opens the page on which it is reviewed and applied. */
export function useReview() {
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  return useAct(
    (planId: string) => client.plans.keep.mutate({ planId }),
    ({ id }) => router.push(link(`/apply/${id}`)),
  );
}
