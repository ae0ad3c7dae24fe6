import { Badge, StateWord } from "@/components/ui/Badge";
import type { Doubt } from "./prepareStages";

/** The mark of a doubtful figure; its reason is available to the pointer and to screen readers. */
export function DoubtBadge({ doubt: { tone, word, reason } }: { readonly doubt: Doubt }) {
  const Word = tone === "hatched" ? Badge : StateWord;
  return (
    <Word tone={tone} title={reason}>
      {word}
      <span className="sr-only">: {reason}</span>
    </Word>
  );
}
