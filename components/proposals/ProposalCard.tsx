"use client";

import type { Proposal } from "@/server/contracts/studio";
import { StateWord } from "../ui/Badge";
import { NoteList } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { ProposalActions } from "./ProposalActions";
import { prepareProposal } from "./prepareProposal";
import { useOpenProposal } from "./useOpenProposal";

function Card({ proposal }: { readonly proposal: Proposal }) {
  const { drifted, effect } = prepareProposal(proposal);
  return (
    <Panel title="A plan is proposed" aside={<StateWord tone="warn">traffic drifted</StateWord>}>
      <div className="flex flex-wrap items-start gap-x-6 gap-y-3" data-testid="proposal">
        <div className="flex max-w-3xl min-w-64 flex-1 flex-col gap-1 text-sm">
          <p>
            Traffic drifted: {drifted}. The proposed plan: {effect}.
          </p>
          <p className="text-ink-2">{proposal.reason} Nothing changes until you apply it.</p>
          <details className="text-ink-3">
            <summary className="cursor-pointer">Assumptions</summary>
            <NoteList items={proposal.basis} className="mt-1 list-disc pl-5" />
          </details>
        </div>
        <ProposalActions proposal={proposal} />
      </div>
    </Panel>
  );
}

/** The plan proposed for traffic that has drifted; nothing where no proposal is open. */
export function ProposalCard({ clusterId }: { readonly clusterId: string }) {
  const proposal = useOpenProposal(clusterId);
  return proposal === null ? null : <Card proposal={proposal} />;
}
