import { Badge, StateWord } from "@/components/ui/Badge";
import type { Doubt } from "./prepareStages";

/** The word on a doubtful figure; its reason for the pointer and for screen readers. */
export function DoubtBadge({ doubt: { tone, word, reason } }: { readonly doubt: Doubt }) {
  const Word = tone === "hatched" ? Badge : StateWord;
  return (
    <Word tone={tone} title={reason}>
      {word}
      <span className="sr-only">: {reason}</span>
    </Word>
  );
}
