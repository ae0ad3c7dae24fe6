import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { Outcome, StoredAnswerLabel } from "@/server/contracts/studio";
import type { AnswerLabelOrder } from "@/server/contracts/studio/answerLabels";

type Labelled = Pick<StoredAnswerLabel, "model" | "planId" | "raw">;

/**
 * The answer that a label is about, with the raw scores that its stage's gate gave it while it served.
 *
 * @param decision undefined: its record is not kept any more.
 * @returns the sentence that says why a label of it calibrates nothing.
 */
export function labelledAnswer(
  { decisionId, model }: Pick<AnswerLabelOrder, "decisionId" | "model">,
  decision: Decision | undefined,
): Outcome<{ readonly answer: Labelled }> {
  const refused = (message: string) => ({ ok: false, message }) as const;
  if (decision === undefined)
    return refused(`There is no record of ${decisionId} here: a gateway keeps its newest 20000 until it restarts.`);
  const { stages, planId } = decision;
  const answered = stages.filter(({ verdict }) => verdict !== "failed");
  const stage =
    model === undefined ? answered.findLast(({ verdict }) => verdict === "accepted") : answered.findLast((each) => each.model === model);
  if (stage === undefined)
    return refused(
      model === undefined ? `${decisionId} has no accepted answer to label.` : `${decisionId} has no answer of ${model} to label.`,
    );
  if (stage.gate === undefined)
    return refused(`No gate scored the answer of ${stage.model} to ${decisionId}, so its label calibrates nothing.`);
  const { raw } = stage.gate;
  if (raw === undefined)
    return refused(`The record of ${decisionId} has no raw score: its gateway is of an earlier version, so update it first.`);
  if (raw.every((score) => score === null))
    return refused(`The gate gave the answer of ${stage.model} to ${decisionId} no raw score, so its label calibrates nothing.`);
  return { ok: true, answer: { model: stage.model, planId, raw } };
}
