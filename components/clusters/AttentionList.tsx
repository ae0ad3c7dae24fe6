import type { Attention } from "@/server/contracts/studio";
import { LabelledLine } from "./LabelledLine";
import { attentionTones } from "./prepareCard";

const words = { warn: "look", bad: "act" } as const;

/** Why a cluster needs attention, each reason with what to do. */
export function AttentionList({ attention, label }: { readonly attention: readonly Attention[]; readonly label: string }) {
  return (
    <ul aria-label={label} data-testid="attention" className="flex list-none flex-col gap-1.5 text-sm">
      {attention.map(({ level, subject, sentence, next }) => (
        <LabelledLine key={`${subject}${sentence}`} word={words[level]} tone={attentionTones[level]} sentence={sentence} next={next} />
      ))}
    </ul>
  );
}
