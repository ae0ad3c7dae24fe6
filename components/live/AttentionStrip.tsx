import type { Proposal } from "@/server/contracts/studio";
import { ProposalActions } from "../proposals/ProposalActions";
import { prepareProposal } from "../proposals/prepareProposal";
import { StateWord } from "../ui/Badge";
import { Panel } from "../ui/Panel";
import type { Problem } from "./prepareAttention";

function ProposalLine({ proposal }: { readonly proposal: Proposal }) {
  const { drifted, effect } = prepareProposal(proposal);
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
      <StateWord tone="warn">traffic drifted</StateWord>
      <span className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">
        {drifted}; a plan is proposed: {effect}
      </span>
      <ProposalActions proposal={proposal} />
    </li>
  );
}

/** What is wrong now, each with the next action, and a plan that is proposed; nothing at all when all is well. */
export function AttentionStrip({ problems, proposal }: { readonly problems: readonly Problem[]; readonly proposal: Proposal | null }) {
  if (problems.length === 0 && proposal === null) return null;
  return (
    <Panel title="Needs attention">
      <ul className="flex list-none flex-col gap-2 text-sm" data-testid="attention">
        {problems.map((each) => (
          <li key={`${each.subject} ${each.word}`} className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <StateWord tone={each.tone}>{each.word}</StateWord>
            <span className="font-medium">{each.subject}</span>
            <span className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">{each.text}</span>
          </li>
        ))}
        {proposal !== null && <ProposalLine proposal={proposal} />}
      </ul>
    </Panel>
  );
}
