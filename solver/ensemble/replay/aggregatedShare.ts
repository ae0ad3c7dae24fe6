import type { Ensemble } from "../gate/ensembleDocument";
import { decideGate } from "../gate/gate";
import { type AnswerSample, votesAt } from "./answerSample";
import { recruiter } from "./recruit";

/**
 * Share of a sample's questions that an ensemble's gate sends to its aggregator, 0..1, among those that all experts recruited for them were
 * asked.
 *
 * @returns null where there are no such questions.
 */
export function aggregatedShare(ensemble: Ensemble, { questionIds, categories, models }: AnswerSample): number | null {
  const { confidence, tau } = ensemble;
  const columns = new Map(models.map((column) => [column.model, column]));
  const recruit = recruiter(ensemble);
  let [questions, aggregated] = [0, 0];
  questionIds.forEach((_, at) => {
    const asked = recruit(categories?.[at] ?? "");
    const votes = votesAt(columns, asked, at);
    if (votes === null) return;
    questions += 1;
    if (decideGate(votes, { asked, confidence, tau }).kind === "aggregate") aggregated += 1;
  });
  return questions === 0 ? null : aggregated / questions;
}
