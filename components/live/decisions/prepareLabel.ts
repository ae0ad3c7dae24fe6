import { formatScore } from "@/components/ui/format";
import type { AnswerLabel } from "@/server/contracts/studio";
import type { Decision } from "./prepareDecision";

/** The answer that the client got, where its gate gave it a raw score. */
export interface LabelledStage {
  readonly model: string;
  /** Its raw scores in words; of gates in order several. */
  readonly raw: string;
}

/** null: the request has no answer whose label could calibrate a gate. */
export function labelledStage({ stages }: Pick<Decision, "stages">): LabelledStage | null {
  const stage = stages.findLast(({ verdict }) => verdict === "accepted");
  const raw = stage?.gate?.raw?.filter((score) => score !== null) ?? [];
  return stage === undefined || raw.length === 0 ? null : { model: stage.model, raw: raw.map(formatScore).join(" and ") };
}

/** Who labelled it, and how; what a person reads where nobody has. */
export const labelledText = (label: AnswerLabel | null): string =>
  label === null ? "Nobody has labelled it." : `Labelled ${label.quality} of 100 by ${label.actor}. Another label replaces it.`;
