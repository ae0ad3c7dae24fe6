import type { OutcomeTable } from "./workload";

/**
 * The table with a predictor's confidences as its models' router scores, 0..100.
 *
 * @param models of the scores, in their order.
 * @param scores 0..1: by row of the table, then by `models`.
 * @returns null where a model of the table has no scores, or the scores are not those of its rows.
 */
export function withConfidenceColumns(outcomes: OutcomeTable, models: readonly string[], scores: Float32Array): OutcomeTable | null {
  const columns = outcomes.models.map(({ model }) => models.indexOf(model));
  const rows = outcomes.promptIds.length;
  if (columns.includes(-1) || scores.length !== rows * models.length) return null;
  return {
    ...outcomes,
    models: outcomes.models.map((column, at) => ({
      ...column,
      routerScore: Float64Array.from({ length: rows }, (_, row) => 100 * (scores[row * models.length + (columns[at] ?? 0)] ?? 0)),
    })),
  };
}
