import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";

/**
 * Why it cannot be served now, in a sentence; null: all its models are there. @param models of the plan in force; null: there is no plan.
 */
export function serveDoubt(ensemble: Ensemble, models: readonly string[] | null): string | null {
  if (models === null) return "No plan is in force on this cluster: no expert could answer before one is.";
  const missing = [...new Set([...ensemble.experts, ensemble.aggregator.model])].filter((model) => !models.includes(model));
  if (missing.length === 0) return null;
  const there = ensemble.experts.filter((model) => models.includes(model)).length;
  const aggregator = missing.includes(ensemble.aggregator.model) ? " Where experts do not agree, the leading answer is returned." : "";
  const experts = there === ensemble.experts.length ? "" : ` ${there} of ${ensemble.experts.length} experts could answer.`;
  return `The plan in force has no engine of ${missing.join(", ")}.${experts}${aggregator}`;
}

/** Whether any of its experts could answer. */
export const couldAnswer = (ensemble: Ensemble, models: readonly string[] | null): boolean =>
  models !== null && ensemble.experts.some((model) => models.includes(model));
