import { mixSeed } from "@/solver/numeric/random";
import { type JudgeModel, modelledScores } from "./judgeModel";
import type { OutcomeTable } from "./workload";

/**
 * The table as seen by a router that reads the prompt before any model has answered: one score per model, 0..100, an independent noisy
 * prediction of the model's label with the stated AUC. Scores of a prompt are the same in every process that holds the table.
 *
 * @throws RangeError on an AUC outside 0.5..1.
 */
export function withRouterScores(outcomes: OutcomeTable, { auc, seed }: JudgeModel): OutcomeTable {
  const routerSeed = mixSeed(seed, "router");
  return {
    ...outcomes,
    models: outcomes.models.map((column) => ({
      ...column,
      routerScore: modelledScores(column.label, { auc, seed: mixSeed(routerSeed, column.model) }),
    })),
  };
}
