/** As far apart as the gate itself holds two thresholds to be one. */
export const SAME_TAU = 1e-9;

/** Stands in the address for a tau that no confidence reaches. */
export const AGGREGATE_ALL = 2;

/** A threshold as it is said: as votes of those asked where it is such a share (`2/3`), else with up to three decimals. Above 1: `aggregate all`. */
export function formatTau(tau: number, expertsPerQuestion: number): string {
  if (tau > 1 + SAME_TAU) return "aggregate all";
  if (tau > 1 - SAME_TAU) return "1";
  const votes = tau * expertsPerQuestion;
  if (Math.abs(votes - Math.round(votes)) < 1e-6 && Math.round(votes) > 0) return `${Math.round(votes)}/${expertsPerQuestion}`;
  return String(Number(tau.toFixed(3)));
}
