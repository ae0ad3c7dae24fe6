"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import type { Plan } from "@/solver/plan/plan";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPCClient } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { shortHash } from "../ui/format";

/** Saves a plan as the document that import takes back unchanged. */
function download(plan: Plan): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(plan, null, 2)}\n`], { type: "application/json" }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = `weir-plan-${shortHash(plan.id)}.json`;
  anchor.click();
  URL.revokeObjectURL(url);
}

/** What can be done with the exact plan; null while there is none. */
export function PlanActions({ plan }: { readonly plan: Plan | null }) {
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const keep = useMutation({
    mutationFn: async (planId: string) => takeOutcome(await client.plans.keep.mutate({ planId })),
    onSuccess: (kept) => router.push(link(`/apply/${kept.id}`)),
  });
  return (
    <>
      {keep.error !== null && (
        <span role="alert" className="text-bad">
          {keep.error.message}
        </span>
      )}
      <Button disabled={plan === null} onClick={() => plan !== null && download(plan)}>
        Export JSON
      </Button>
      <Button look="primary" disabled={plan === null || keep.isPending} onClick={() => plan !== null && keep.mutate(plan.id)}>
        Review and apply
      </Button>
    </>
  );
}
