import type { Attention } from "@/server/contracts/studio";
import { StateWord } from "../ui/Badge";
import { attentionTones } from "./prepareCard";

const words = { warn: "look", bad: "act" } as const;

/** Why a cluster needs attention, each reason with what to do. */
export function AttentionList({ attention, label }: { readonly attention: readonly Attention[]; readonly label: string }) {
  return (
    <ul aria-label={label} data-testid="attention" className="flex list-none flex-col gap-1.5 text-sm">
      {attention.map(({ level, subject, sentence, next }) => (
        <li key={`${subject}${sentence}`} className="flex items-baseline gap-2">
          <span className="shrink-0">
            <StateWord tone={attentionTones[level]}>{words[level]}</StateWord>
          </span>
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {sentence}
            {next !== null && <span className="text-ink-2"> {next}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
