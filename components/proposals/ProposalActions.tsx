"use client";

import Link from "next/link";
import type { Proposal } from "@/server/contracts/studio";
import { useProposalAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Button, buttonClass } from "../ui/Button";

/** The two answers: to the review, where plans are approved and applied, or no. */
export function ProposalActions({ proposal }: { readonly proposal: Proposal }) {
  const client = useTRPCClient();
  const link = useClusterLink();
  const dismiss = useProposalAct(() => client.proposals.dismiss.mutate({ id: proposal.id }));
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
