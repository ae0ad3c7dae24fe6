import { trainedConfidence } from "@/server/prediction/confidenceTraining";
import { withConfidenceColumns } from "@/solver/workload/confidenceColumns";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { promptTexts } from "./ladders";

/**
 * A workload's outcomes with the scores of trained confidence heads as router scores: out of fold for planning prompts, held out for the
 * others. Trains for some seconds per thousand prompts.
 *
 * @param seed of the split into prompts to learn from and held-out ones, and of the training.
 */
export async function trainedOutcomes(workload: Workload, seed: number = workload.seed): Promise<OutcomeTable> {
  const { outcomes } = workload;
  const byId = await promptTexts();
  const texts = outcomes.promptIds.map((id) => byId.get(id) ?? null);
  const { scores } = trainedConfidence({
    workload: { ...workload, seed },
    texts,
    split: splitPrompts(outcomes.promptIds.length, seed),
    tell: () => undefined,
  });
  const models = scores.models.map(({ model }) => model);
  const scored = withConfidenceColumns(outcomes, models, scores.scores);
  if (scored === null) throw new Error(`no scores of ${workload.name}`);
  return scored;
}
