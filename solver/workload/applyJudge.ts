import { modelledScores } from "./judgeModel";
import type { JudgeSource, ModelOutcomes, OutcomeTable } from "./workload";

/** One model's outcomes for every prompt; judged scores only where they were measured. */
export interface LabelledOutcomes extends Omit<ModelOutcomes, "judged"> {
  readonly judged: Float64Array | null;
}

/** An outcome table before a judge is chosen. */
export interface LabelledTable extends Omit<OutcomeTable, "models"> {
  readonly models: readonly LabelledOutcomes[];
}

/** Whether every model of the table carries measured scores of a judge. */
export const hasMeasuredJudge = (table: LabelledTable): boolean => table.models.every(({ judged }) => judged !== null);

/**
 * Gives a table its judged scores: the measured ones, or modelled ones for all answers together, since one judge reads them all.
 *
 * @throws RangeError when measured scores are requested from a table that has none.
 */
export function applyJudge(table: LabelledTable, judge: JudgeSource): OutcomeTable {
  if (judge.kind === "measured") return { ...table, models: table.models.map(requireMeasured) };
  const prompts = table.promptIds.length;
  const label = new Float64Array(prompts * table.models.length);
  table.models.forEach((model, at) => {
    label.set(model.label, at * prompts);
  });
  const judged = modelledScores(label, judge);
  return {
    ...table,
    models: table.models.map((model, at) => ({ ...model, judged: judged.slice(at * prompts, (at + 1) * prompts) })),
  };
}

function requireMeasured(model: LabelledOutcomes): ModelOutcomes {
  if (model.judged === null) throw new RangeError(`The answers of ${model.tableName} carry no judged scores: model the judge instead`);
  return { ...model, judged: model.judged };
}
