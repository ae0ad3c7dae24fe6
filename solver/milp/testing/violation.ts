import type { MilpModel } from "../model";

/** The largest amount by which a point violates a row, a bound or integrality; 0 for a feasible point. */
export function violation(model: MilpModel, x: ArrayLike<number>): number {
  let worst = 0;
  for (const [index, { lower, upper, integer }] of model.variables.entries()) {
    const value = x[index] ?? 0;
    worst = Math.max(worst, lower - value, value - upper, integer ? Math.abs(value - Math.round(value)) : 0);
  }
  for (const { terms, sense, bound } of model.rows) {
    const activity = terms.reduce((sum, term) => sum + term.coefficient * (x[term.variable] ?? 0), 0);
    if (sense !== ">=") worst = Math.max(worst, activity - bound);
    if (sense !== "<=") worst = Math.max(worst, bound - activity);
  }
  return worst;
}
