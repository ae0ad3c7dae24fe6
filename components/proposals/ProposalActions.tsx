"use client";

import type { Proposal } from "@/server/contracts/studio";
import { useProposalAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { Button, buttonClass } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";

/** The two answers: open the review, where plans are approved and applied, or reject. */
export function ProposalActions({ proposal }: { readonly proposal: Proposal }) {
  const client = useTRPCClient();
  const dismiss = useProposalAct(() => client.proposals.dismiss.mutate({ id: proposal.id }));
  return (
    <div className="flex flex-wrap items-center gap-2">
      <ErrorLine error={dismiss.error} />
      <ClusterLink to={`/apply/${proposal.planId}`} className={buttonClass("primary")}>
        Review the proposed plan
      </ClusterLink>
      <Button disabled={dismiss.isPending} onClick={() => dismiss.mutate()}>
        Dismiss
      </Button>
    </div>
  );
}
