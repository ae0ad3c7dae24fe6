import { ProposalActions } from "@/components/proposals/ProposalActions";
import { prepareProposal } from "@/components/proposals/prepareProposal";
import { StateWord } from "@/components/ui/Badge";
import { Panel } from "@/components/ui/Panel";
import type { Proposal } from "@/server/contracts/studio";
import type { Problem } from "./findings";

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

/** Each subject of a problem that several subjects have. */
function Members({ members }: Pick<Problem, "members">) {
  return (
    <details className="basis-full">
      <summary className="text-xs text-ink-3">show all {members.length}</summary>
      <ul className="mt-1 grid list-none gap-x-6 gap-y-0.5 text-xs sm:grid-cols-2">
        {members.map(({ subject, when, reason }) => (
          <li key={subject} className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">
            <span className="font-medium text-ink">{subject}</span>
            {when !== null && (
              <span className="text-ink-3" title={when.title}>
                {" "}
                {when.text}
              </span>
            )}
            {reason !== "" && `: ${reason}`}
          </li>
        ))}
      </ul>
    </details>
  );
}

function ProblemLine({ problem }: { readonly problem: Problem }) {
  const { subject, word, tone, when, nextTry, text, members } = problem;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
      <StateWord tone={tone}>{word}</StateWord>
      <span className="font-medium [overflow-wrap:anywhere]">{subject}</span>
      {when !== null && (
        <span className="whitespace-nowrap text-ink-3" title={when.title}>
          {when.text}
        </span>
      )}
      <span className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">{text}</span>
      {nextTry !== null && <span className="whitespace-nowrap text-ink-3">{nextTry}</span>}
      {members.length > 0 && <Members members={members} />}
    </li>
  );
}

/**
 * The current problems, each with the next action, and a proposed plan; nothing when all is well. Only problems that
 * appear or disappear are read out, not figures and ages, which change each second.
 */
export function AttentionStrip({ problems, proposal }: { readonly problems: readonly Problem[]; readonly proposal: Proposal | null }) {
  const said = [...new Set(problems.map((each) => each.said))].join(", ");
  return (
    <>
      <p role="status" className="sr-only">
        {said === "" ? "" : `Needs attention: ${said}`}
      </p>
      {(problems.length > 0 || proposal !== null) && (
        <Panel title="Needs attention">
          <ul className="flex list-none flex-col gap-2 text-sm" data-testid="attention">
            {problems.map((problem) => (
              <ProblemLine key={problem.key} problem={problem} />
            ))}
            {proposal !== null && <ProposalLine proposal={proposal} />}
          </ul>
        </Panel>
      )}
    </>
  );
}
