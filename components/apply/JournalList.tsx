import { StateWord } from "../ui/Badge";
import { formatClock } from "../ui/format";
import type { ShownJournalLine } from "./prepareSteps";

/** Journal lines in their order: before each act, after it, and when its effect was checked again. */
export function JournalList({ lines, caption }: { readonly lines: readonly ShownJournalLine[]; readonly caption: string }) {
  return (
    <ol aria-label={caption} className="my-1 flex list-none flex-col gap-1 text-xs">
      {lines.map((line) => (
        <li key={line.key} className="flex flex-wrap items-baseline gap-x-2">
          <time dateTime={line.at} className="text-ink-3">
            {formatClock(line.at)}
          </time>
          <StateWord tone={line.tone}>{line.word}</StateWord>
          {line.step !== "" && <span className="text-ink-2">{line.step}</span>}
          <span className="min-w-0 grow basis-40 text-ink-2 [overflow-wrap:anywhere]">{line.detail}</span>
        </li>
      ))}
    </ol>
  );
}
