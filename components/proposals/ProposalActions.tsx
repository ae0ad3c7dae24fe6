"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import Link from "next/link";
import type { Proposal } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Button, buttonClass } from "../ui/Button";

/** The two answers: to the review, where plans are approved and applied, or no. */
export function ProposalActions({ proposal }: { readonly proposal: Proposal }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const link = useClusterLink();
  const dismiss = useMutation({
    mutationFn: async () => unwrapOutcome(await client.proposals.dismiss.mutate({ id: proposal.id })),
    onSettled: () => queries.invalidateQueries(trpc.proposals.pathFilter()),
  });
  return (
    <div className="flex flex-wrap items-center gap-2">
      {dismiss.error !== null && (
        <span role="alert" className="text-sm text-bad">
          {dismiss.error.message}
        </span>
      )}
      <Link href={link(`/apply/${proposal.planId}`)} className={buttonClass("primary")}>
        Review the proposed plan
      </Link>
      <Button disabled={dismiss.isPending} onClick={() => dismiss.mutate()}>
        Dismiss
      </Button>
    </div>
  );
}
