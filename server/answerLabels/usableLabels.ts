import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { StoredAnswerLabel } from "@/server/contracts/studio";
import type { AnswerLabelOrder } from "@/server/contracts/studio/answerLabels";
import { type LeftOutLabels, labelledStage, leftOutLabels, type UnusableLabel } from "@/solver/gates/gates";

/** A label as it was given. */
export interface GivenLabel extends AnswerLabelOrder {
  /** Its line in the file, where the header is line 1; left out: it does not come from a file. */
  readonly line?: number;
}

/** A label with what the gate knew of its answer. */
export interface UsableLabel extends Pick<StoredAnswerLabel, "decisionId" | "model" | "planId" | "raw" | "quality"> {
  /** Kind of the gate that scored the answer. */
  readonly gate: string;
}

/**
 * Labels of served answers that can count, with the raw scores that the answers' gates gave them while they served, and how many others
 * there are, by reason.
 *
 * @param decisions records that the gateway still has.
 */
export function usableLabels(
  labels: readonly GivenLabel[],
  decisions: readonly Decision[],
): { readonly usable: readonly UsableLabel[]; readonly leftOut: readonly LeftOutLabels[] } {
  const wanted = new Set(labels.map(({ decisionId }) => decisionId));
  const records = new Map(decisions.flatMap((each) => (wanted.has(each.id) ? [[each.id, each] as const] : [])));
  const usable: UsableLabel[] = [];
  const unusable: UnusableLabel[] = [];
  for (const { decisionId, model, quality, line } of labels) {
    const record = records.get(decisionId);
    const leaveOut = (kind: UnusableLabel["kind"]) => unusable.push({ kind, decisionId, line });
    if (record === undefined) {
      leaveOut("no-record");
      continue;
    }
    const found = labelledStage(record.stages, model);
    if (found.kind === "usable") {
      usable.push({ decisionId, model: found.model, planId: record.planId, raw: found.raw, quality, gate: found.gate });
    } else leaveOut(found.kind);
  }
  return { usable, leftOut: leftOutLabels(unusable) };
}
