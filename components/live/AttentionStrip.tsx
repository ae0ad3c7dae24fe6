import { StateWord } from "../ui/Badge";
import { Panel } from "../ui/Panel";
import type { Problem } from "./prepareAttention";

/** What is wrong now, each with the next action; nothing at all when all is well. */
export function AttentionStrip({ problems }: { readonly problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
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
      </ul>
    </Panel>
  );
}
