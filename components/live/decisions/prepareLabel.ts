import { formatScore } from "@/components/ui/format";
import type { AnswerLabel } from "@/server/contracts/studio";
import { labelledStage, unusableLabelWords } from "@/solver/gates/gates";
import type { Decision } from "./prepareDecision";

/** The answer that the client got, where its label can calibrate a gate. */
export interface LabelledAnswer {
  readonly model: string;
  /** Its raw scores in words; of gates in order several. */
  readonly raw: string;
}

/** The answer that a page lets a person label, or why a label of it would not count, in a sentence. */
export function labelledAnswer({ stages }: Pick<Decision, "stages">): LabelledAnswer | string {
  const found = labelledStage(stages);
  if (found.kind !== "usable") return `This record takes no label: ${unusableLabelWords[found.kind]}.`;
  const raw = found.raw.filter((score) => score !== null);
  return { model: found.model, raw: raw.map(formatScore).join(" and ") };
}

/** Who labelled it, and how; what a person reads where nobody has. */
export const labelledText = (label: AnswerLabel | null): string =>
  label === null ? "Nobody has labelled it." : `Labelled ${label.quality} of 100 by ${label.actor}. Another label replaces it.`;
